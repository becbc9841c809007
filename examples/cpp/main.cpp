// Handles that free themselves and errors as exceptions, in thirty lines to copy; then a model of three classes with
// text labels.
//
//   c++ -std=c++17 main.cpp -o main $(pkg-config --cflags --libs greedystep)
//   ./main
//
// Prints the text of ../expected/cpp.txt.
#include <greedystep/train.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace greedystep
{

template <auto free> struct freed_by {
    template <class handle> void operator()(handle *it) const
    {
        free(it);
    }
};
using state = std::unique_ptr<gsa_state, freed_by<gsa_state_free>>;
using model = std::unique_ptr<gsa_model, freed_by<gsa_model_free>>;
using reader = std::unique_ptr<gsa_reader, freed_by<gsa_reader_close>>;

struct error : std::runtime_error {
    explicit error(const gsa_error &it) : std::runtime_error(it.message), status(it.status)
    {
    }
    gsa_status status;
};

// call(f, arguments...): calls f of the C library with a gsa_error as last argument, which is thrown if f fails.
template <class function, class... arguments> void call(function f, arguments... given)
{
    gsa_error failure;
    if (f(given..., &failure) != GSA_OK)
        throw error(failure);
}

// make<handle>(f, arguments...): the same for a function that makes an object.
template <class handle, class function, class... arguments> handle make(function f, arguments... given)
{
    typename handle::pointer made = nullptr;
    call(f, given..., &made);
    return handle(made);
}

} // namespace greedystep

int main()
try {
    using namespace greedystep;
    std::string table = "fruit,red,gram\n";
    for (int i = 0; i < 20; i++)
        table += "plum,0.4," + std::to_string(30 + i) + "\napple,0.8," + std::to_string(150 + i) + "\nlemon,0.0," +
                 std::to_string(100 + i) + "\n";
    gsa_reader_options options{};
    options.size = sizeof options;
    options.label = "fruit";
    auto rows = make<reader>(gsa_reader_open_memory, table.data(), table.size(), "fruit", &options, nullptr, nullptr);
    auto learned = make<state>(gsa_state_new, nullptr, nullptr);
    call(gsa_train, learned.get(), rows.get(), nullptr, nullptr);
    auto fruit = make<model>(gsa_state_finish, learned.get(), nullptr);

    const float unknown[] = {0.5f, 160}; // red, gram: numbers are features in the order of their columns
    gsa_batch batch{};
    batch.n_rows = 1;
    batch.width = 2;
    batch.value = unknown;
    std::vector<double> probability(3);
    call(gsa_model_predict, fruit.get(), &batch, probability.data());
    for (std::size_t k = 0; k < probability.size(); k++)
        std::printf("%s %.3f\n", gsa_model_label(fruit.get(), k), probability[k]);
} catch (const std::exception &failure) {
    std::fprintf(stderr, "main: %s\n", failure.what());
    return 1;
}
