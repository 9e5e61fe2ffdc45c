// The Debian packages of a release, in a Debian that debootstrap makes, with the commands of docs/install.md.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkOutput, notInstalled, openShell, type Shell } from '#test/support/processes/documented-steps.ts'
import { emptyFolder, installSteps, isSameFile, noRelease, RELEASE, storySteps } from './release.ts'

const PACKAGES = globSync('*.deb', { cwd: RELEASE })

function reasonToSkip(): string | false {
  if (noRelease !== false) return noRelease
  if (PACKAGES.length === 0) return 'the release has no Debian packages'
  if (process.getuid?.() !== 0) return 'only root can use debootstrap'
  return notInstalled(['debootstrap', 'unshare', 'chroot'])
}

/** Makes a Debian with curl and ps. DEBIAN_ROOT names the folder of another run. */
function makeDebian(folder: string): string {
  const root = join(folder, 'root')
  const made = process.env['DEBIAN_ROOT']
  if (made === undefined)
    execFileSync('debootstrap', ['--variant=minbase', '--include=curl,procps', 'bookworm', root], { stdio: 'ignore' })
  else execFileSync('cp', ['-a', made, root])
  mkdirSync(join(root, 'root/work'))
  for (const name of PACKAGES) cpSync(join(RELEASE, name), join(root, 'root/work', name))
  // `apt` starts services in a chroot only if nothing forbids it.
  writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  return root
}

/** A shell in the chroot, in its own namespaces, without a network except the loopback interface. */
async function enter(folder: string, root: string): Promise<Shell> {
  const inner = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child']
  const env = {
    HOME: '/root',
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    DEBIAN_FRONTEND: 'noninteractive',
  }
  const shell = openShell(join(folder, 'shell'), { env, command: inner })
  await shell.run(`ip link set lo up
mount --bind ${root} ${root}
mount -t proc proc ${root}/proc
mount --rbind /dev ${root}/dev
`)
  return shell
}

test('the Debian package installs a service, runs the story of the README, and keeps the data when it is removed', {
  skip: reasonToSkip(),
}, async () => {
  const { folder, remove } = emptyFolder()
  mkdirSync(join(folder, 'shell'))
  const root = makeDebian(folder)
  const shell = await enter(folder, root)
  after(async () => {
    await shell.end()
    remove()
  })
  // Each block runs in one shell inside the chroot; variables stay in a file between them.
  const inside = (script: string): Promise<string[]> => {
    const block = `cd /root/work\n[ ! -e /tmp/variables ] || . /tmp/variables\n${script}\n(declare -p AUTHOR MODERATOR URL 2>/dev/null || true) > /tmp/variables\n`
    writeFileSync(join(root, 'tmp/block.sh'), block)
    return shell.run(`chroot ${root} bash -e /tmp/block.sh`)
  }
  const steps = installSteps('Debian package')
  const removal = steps.findIndex(({ script }) => script.includes('apt-get remove'))
  assert.ok(removal > 3)
  for (const [n, { script, expected }] of steps.slice(0, removal).entries())
    checkOutput(await inside(script), expected, `block ${n + 1}`)

  checkOutput(
    await inside(
      'stat -c "%n %U %a" /var/lib/depot /var/backups/depot /etc/depot.env; find /var/lib/depot ! -user depot | wc -l; test ! -e /var/lib/depot/system && echo in place',
    ),
    ['/var/lib/depot depot 700', '/var/backups/depot depot 700', '/etc/depot.env root 640', '0', 'in place'],
    'the owner of the data',
  )
  await inside('cp -r /usr/lib/depot/lib/node_modules/depot/examples . && mkdir data')
  let lines: string[] = []
  for (const { script } of storySteps()) lines = await inside(script)
  assert.ok(isSameFile(lines), lines.join('\n'))

  checkOutput(await inside('ls /usr/lib/depot/lib/node_modules'), ['@redis', 'depot'], 'the clients of engines')
  await inside(
    `echo 'SMTP_URL=smtp://mail.example.org' >> /etc/depot.env; apt-get install --yes --reinstall ./${PACKAGES.find((name) => name.startsWith('depot_'))}`,
  )
  checkOutput(
    await inside('tail -n 1 /etc/depot.env'),
    ['SMTP_URL=smtp://mail.example.org'],
    'the settings after a new installation',
  )
  await inside('pkill -f depot.mjs; while pgrep -f depot.mjs > /dev/null; do sleep 0.1; done')

  for (const [n, { script, expected }] of steps.slice(removal).entries()) {
    checkOutput(await inside(script), expected, `removal, block ${n + 1}`)
    assert.ok(
      existsSync(join(root, 'var/lib/depot/postgres')) ||
        globSync('*', { cwd: join(root, 'var/lib/depot') }).length > 0,
      'the data stays',
    )
    assert.equal(existsSync(join(root, 'etc/depot.env')), n === 0, 'the settings')
  }
  assert.ok(!existsSync(join(root, 'usr/lib/depot')) && !existsSync(join(root, 'usr/bin/depot')))
})
