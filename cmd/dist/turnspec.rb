class Turnspec < Formula
  desc "Conformance test suite for adapters of agent runtimes"
  homepage "https://github.com/turnspec/turnspec"
  version "{{.Version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "https://github.com/turnspec/turnspec/releases/download/v{{.Version}}/turnspec_{{.Version}}_darwin_arm64.tar.gz"
      sha256 "{{.Sums.darwin_arm64}}"
    end
    on_intel do
      url "https://github.com/turnspec/turnspec/releases/download/v{{.Version}}/turnspec_{{.Version}}_darwin_amd64.tar.gz"
      sha256 "{{.Sums.darwin_amd64}}"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/turnspec/turnspec/releases/download/v{{.Version}}/turnspec_{{.Version}}_linux_arm64.tar.gz"
      sha256 "{{.Sums.linux_arm64}}"
    end
    on_intel do
      url "https://github.com/turnspec/turnspec/releases/download/v{{.Version}}/turnspec_{{.Version}}_linux_amd64.tar.gz"
      sha256 "{{.Sums.linux_amd64}}"
    end
  end

  def install
    bin.install "turnspec"
    generate_completions_from_executable(bin/"turnspec", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/turnspec --version")
    system bin/"turnspec", "demo"
  end
end
