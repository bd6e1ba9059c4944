class Hearth < Formula
  desc "Personal AI assistant on your own machine: gateway and command-line"
  homepage "https://{{.Source}}"
  version "{{.Version}}"
  license "MIT"

  on_macos do
    depends_on arch: :arm64
    url "{{.URL "hearth-gateway" "darwin_arm64.tar.gz"}}"
    sha256 "{{.Sum "hearth-gateway" "darwin_arm64.tar.gz"}}"
  end

  on_linux do
    on_arm do
      url "{{.URL "hearth-gateway" "linux_arm64.tar.gz"}}"
      sha256 "{{.Sum "hearth-gateway" "linux_arm64.tar.gz"}}"
    end
    on_intel do
      url "{{.URL "hearth-gateway" "linux_amd64.tar.gz"}}"
      sha256 "{{.Sum "hearth-gateway" "linux_amd64.tar.gz"}}"
    end
  end

  # Each finds the other beside itself.
  def install
    libexec.install "hearth", "hearth-channels"
    bin.install_symlink libexec/"hearth"
    doc.install Dir["docs/*"], "README.md", "THIRD_PARTY_LICENSES"
  end

  service do
    run [opt_bin/"hearth", "gateway", "--quiet"]
    keep_alive successful_exit: false
    log_path var/"log/hearth.log"
    error_log_path var/"log/hearth.log"
  end

  test do
    ENV["HEARTH_HOME"] = testpath
    assert_match version.to_s, shell_output("#{bin}/hearth --version")
    assert_match "not running", shell_output("#{bin}/hearth status 2>&1", 3)
  end
end
