# For a tap of Homebrew: never published. scripts/packages fills in what stands between @.
class Greedystep < Formula
  desc "@summary@"
  homepage "@address@"
  url "@download@"
  sha256 "@sha256@"
  license "@license@"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "scdoc" => :build
  depends_on "xxhash" => :build
  depends_on "jansson"
  depends_on "xz"
  depends_on "zstd"

  uses_from_macos "bzip2"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DGREEDYSTEP_MPI=OFF",
           "-DGREEDYSTEP_ZLIB=ON", "-DGREEDYSTEP_ZSTD=ON", "-DGREEDYSTEP_LZMA=ON", "-DGREEDYSTEP_BZIP2=ON",
           *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"greedystep", "generate", "--rows", "1000", "-o", "rows.svm"
    system bin/"greedystep", "train", "rows.svm", "-o", "my.model"
    assert_match "loss", shell_output("#{bin}/greedystep evaluate my.model rows.svm")
  end
end
