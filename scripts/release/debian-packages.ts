// Makes the Debian packages by nfpm: `depot`, and `depot-engines` with the clients of engines.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { PACKAGE } from './install-release.ts'
import { readManifest } from './lock-part.ts'

const MODULES = 'lib/node_modules'
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

type Content = { src?: string; dst: string; type?: string; file_info?: { mode: number } }

/** Returns the names of the packages. `installed` is a release with all engines. */
export function buildDebianPackages(root: string, installed: string, folder: string): string[] {
  const { version } = readManifest(root)
  const arch = ARCHITECTURES[process.arch] ?? process.arch
  const scratch = `${installed}.debian`
  mkdirSync(scratch)
  const deploy = (name: string) => join(root, 'deploy/debian', name)
  const packed = (path: string): string => join(installed, PACKAGE, path)
  const written = (name: string, content: string | Buffer): string => {
    writeFileSync(join(scratch, name), content)
    return join(scratch, name)
  }
  const tree = (path: string): Content => ({ src: join(installed, path), dst: `/usr/lib/depot/${path}`, type: 'tree' })
  const file = (src: string, dst: string, mode = 0o644): Content => ({ src, dst, file_info: { mode } })
  const engines = readdirSync(join(installed, MODULES))
    .filter((name) => name !== basename(PACKAGE))
    .sort()
  const settings = `${readFileSync(join(root, '.env.example'), 'utf8')}\nDATA_DIR=/var/lib/depot\n`
  const depot = {
    name: 'depot',
    description: 'Content hosting service for mods, modpacks, resource packs, shaders, data packs and plugins',
    depends: ['passwd', 'libc6 (>= 2.28)', 'libstdc++6'],
    suggests: ['depot-engines'],
    contents: [
      tree(PACKAGE),
      file(written('marker', ''), `/usr/lib/depot/${PACKAGE}/.debian-package`),
      { src: `/usr/lib/depot/${PACKAGE}/bin/depot`, dst: '/usr/bin/depot', type: 'symlink' },
      file(written('unit', serviceUnit(root)), '/usr/lib/systemd/system/depot.service'),
      file(written('settings', settings), '/usr/share/depot/depot.env'),
      file(join(root, 'LICENSE'), '/usr/share/doc/depot/copyright'),
      file(written('manual', gzipSync(readFileSync(packed('man/depot.1')))), '/usr/share/man/man1/depot.1.gz'),
      file(packed('completions/depot.bash'), '/usr/share/bash-completion/completions/depot'),
      file(packed('completions/depot.zsh'), '/usr/share/zsh/vendor-completions/_depot'),
      file(packed('completions/depot.fish'), '/usr/share/fish/vendor_completions.d/depot.fish'),
    ],
    scripts: { postinstall: deploy('postinst'), preremove: deploy('prerm'), postremove: deploy('postrm') },
  }
  const clients = {
    name: 'depot-engines',
    description: 'Clients of S3, Redis, OpenSearch, ClickHouse and OpenTelemetry for Depot',
    depends: [`depot (= ${version})`],
    contents: engines.map((name) => tree(`${MODULES}/${name}`)),
  }
  const names = [depot, clients].map((one) => {
    const all = {
      ...one,
      version,
      arch,
      version_schema: 'none',
      section: 'web',
      maintainer: 'Depot',
      license: 'MIT',
      deb: { compression: 'zstd' },
    }
    return pack(written(`${one.name}.json`, JSON.stringify(all)), folder, `${one.name}_${version}_${arch}.deb`)
  })
  rmSync(scratch, { recursive: true })
  return names
}

function pack(config: string, folder: string, name: string): string {
  const words = ['package', '--packager', 'deb', '--config', config, '--target', join(folder, name)]
  execFileSync(process.env['NFPM'] ?? 'nfpm', words, { stdio: ['ignore', 'ignore', 'inherit'] })
  return name
}

/** The unit of the documented installation from a checkout, with the paths of the package. */
function serviceUnit(root: string): string {
  const unit = readFileSync(join(root, 'deploy/systemd/depot.service'), 'utf8')
  return (
    unit
      .replace(/^#.*\n/, '# Depot as a service of the Debian package.\n')
      .replace('WorkingDirectory=/srv/depot', 'WorkingDirectory=/var/lib/depot')
      .replace('/srv/depot/bin/depot', '/usr/bin/depot')
      // systemd would reset the mode and owner of the folder at each start. The package has created it.
      .replace('StateDirectory=depot\nStateDirectoryMode=0700', 'ReadWritePaths=/var/lib/depot')
  )
}
