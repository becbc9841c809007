/* The squared loss. Its greedy step is exact: lambda = 1 moves the margin onto the label. */
#include "core/loss/loss.h"

/* Overflows to +infinity, never NaN, where the square is no double: |y - m| above 1.8e154. */
double gsa__squared_loss(double m, double y)
{
    double distance = y - m;
    return 0.5 * distance * distance;
}
