# The command in an image of Debian: docker build -t greedystep . (or podman, or buildah; docs/packaging.md).
# BASE is a Debian 12 or later; its digest, of 2026-06-23, is from public Dockerfiles and was never pulled.
ARG BASE=debian:12-slim@sha256:60eac759739651111db372c07be67863818726f754804b8707c90979bda511df

FROM $BASE AS build
RUN apt-get update -q && apt-get install -q -y --no-install-recommends \
    gcc libc6-dev cmake ninja-build pkg-config libjansson-dev libxxhash-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev
COPY . /source
RUN cmake -S /source -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr/local \
        -DGREEDYSTEP_TESTS=OFF -DGREEDYSTEP_MPI=OFF \
    && cmake --build /build --target greedystep_cli manual \
    && DESTDIR=/made cmake --install /build --component command --strip

FROM $BASE
RUN apt-get update -q \
    && apt-get install -q -y --no-install-recommends libjansson4 zlib1g libzstd1 liblzma5 libbz2-1.0 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY --from=build /made/ /
WORKDIR /data
USER nobody
ENTRYPOINT ["greedystep"]
CMD ["--help"]
