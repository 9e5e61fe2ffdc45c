// A Debian that debootstrap makes, in which tests run commands of a release.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { notInstalled, openShell, type Shell } from '#test/support/processes/documented-steps.ts'
import type { Run } from './release.ts'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/debian-bookworm')
/** Programs that commands of the documents use. Debian's small image has neither. */
const INCLUDED = 'curl,procps'
const STORY = 'AUTHOR MODERATOR URL'

export const noDebian = (): string | false =>
  process.getuid?.() === 0
    ? notInstalled(['debootstrap', 'flock', 'unshare', 'chroot', 'ip'])
    : 'only root can use debootstrap and namespaces'

/** Creates a small Debian, unless there is one. The lock makes the other tests wait for it. */
const CREATE = `[ -e "$0" ] || {
  rm -rf "$0.new"
  debootstrap --variant=minbase --include=${INCLUDED} bookworm "$0.new"
  mv "$0.new" "$0"
}`

/** Copies a small Debian to a folder. As in the images of Debian, dpkg does not wait for the disk after each file. */
export function makeDebian(root: string): void {
  execFileSync('flock', [`${CACHE}.lock`, 'sh', '-ec', CREATE, CACHE], { stdio: 'ignore' })
  copyFolder(CACHE, root)
  execFileSync('chmod', ['755', root])
  writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/unsafe-io'), 'force-unsafe-io\n')
}

export type Debian = {
  /** Runs a block outside the root file system, in its namespaces. */
  outside: Run
  /** Runs a block inside it. The variables of the story remain. */
  inside: Run
  end(): Promise<void>
}

/**
 * Opens a shell in separate namespaces, without a network except the loopback interface.
 * @param cwd working folder of the blocks
 * @param as command that starts the shell of a block, for example as another user
 */
export async function enterDebian(folder: string, root: string, { cwd = '/root', as = '' } = {}): Promise<Debian> {
  const env = {
    HOME: '/root',
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    DEBIAN_FRONTEND: 'noninteractive',
  }
  mkdirSync(join(folder, 'shell'))
  const command = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child']
  const shell: Shell = openShell(join(folder, 'shell'), { env, command })
  await shell.run(`ip link set lo up
mount --bind ${root} ${root}
mount -t proc proc ${root}/proc
mount --rbind /dev ${root}/dev
mount -t tmpfs -o mode=1777 tmpfs ${root}/tmp`)
  const block = join(folder, 'inside.sh')
  return {
    outside: shell.run,
    inside: (script) => {
      const save = `(declare -p ${STORY} 2>/dev/null || true) > /tmp/variables`
      writeFileSync(block, `cd ${cwd}\n[ ! -e /tmp/variables ] || . /tmp/variables\n${script}\n${save}\n`)
      return shell.run(`cp ${block} ${root}/tmp/block.sh; chroot ${root} ${as} bash -e /tmp/block.sh`)
    },
    end: shell.end,
  }
}

/** Copies a folder over another. */
export function copyFolder(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  execFileSync('cp', ['-a', from, to])
}

/** Ends the server in the root file system. */
export const STOP = 'pkill -f depot.mjs || true; while pgrep -f depot.mjs > /dev/null; do sleep 0.1; done'

/** Prints the user of the server, by name if it has one. */
export const USER_OF_SERVER = 'ps -o user= -p "$(pgrep -d , -f depot.mjs)" | sort -u'
