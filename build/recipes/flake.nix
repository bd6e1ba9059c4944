{
  description = "Hearth, a personal AI assistant: gateway and command line";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.11";

  outputs = { self, nixpkgs }:
    let
      version = "{{.Version}}";
      archives = {
        x86_64-linux = {
          url = "{{.URL "hearth-gateway" "linux_amd64.tar.gz"}}";
          hash = "{{.SRI "hearth-gateway" "linux_amd64.tar.gz"}}";
        };
        aarch64-linux = {
          url = "{{.URL "hearth-gateway" "linux_arm64.tar.gz"}}";
          hash = "{{.SRI "hearth-gateway" "linux_arm64.tar.gz"}}";
        };
        aarch64-darwin = {
          url = "{{.URL "hearth-gateway" "darwin_arm64.tar.gz"}}";
          hash = "{{.SRI "hearth-gateway" "darwin_arm64.tar.gz"}}";
        };
      };
      each = nixpkgs.lib.genAttrs (builtins.attrNames archives);
    in {
      packages = each (system:
        let pkgs = nixpkgs.legacyPackages.${system};
        in {
          # The programs are static: there is nothing to patch.
          default = pkgs.stdenvNoCC.mkDerivation {
            pname = "hearth";
            inherit version;
            src = pkgs.fetchurl archives.${system};
            dontConfigure = true;
            dontBuild = true;
            dontStrip = true;
            installPhase = ''
              install -Dm755 -t $out/bin hearth hearth-channels
              install -Dm644 -t $out/share/doc/hearth LICENSE THIRD_PARTY_LICENSES README.md docs/*.md
            '';
            meta = {
              description = "Personal AI assistant on your own machine";
              homepage = "https://{{.Source}}";
              license = pkgs.lib.licenses.mit;
              mainProgram = "hearth";
              platforms = builtins.attrNames archives;
            };
          };
        });

      # services.hearth.enable = true; of one machine, with a user of its own.
      nixosModules.default = { config, lib, pkgs, ... }: {
        options.services.hearth.enable = lib.mkEnableOption "Hearth, a personal AI assistant";
        config = lib.mkIf config.services.hearth.enable {
          systemd.services.hearth = {
            description = "Hearth, a personal AI assistant";
            wantedBy = [ "multi-user.target" ];
            after = [ "network.target" ];
            environment.HEARTH_HOME = "/var/lib/hearth";
            serviceConfig = {
{{- range .Hardening}}
              {{.Key}} = {{.Nix}};
{{- end}}
              ExecStart = "${self.packages.${pkgs.system}.default}/bin/hearth gateway --quiet";
            };
          };
        };
      };
    };
}
