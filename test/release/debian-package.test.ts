// The Debian packages of a release, in a Debian that debootstrap makes, with the commands of docs/operators/install.md.
import assert from 'node:assert/strict'
import { cpSync, existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkOutput } from '#test/support/processes/documented-steps.ts'
import { copyFolder, enterDebian, makeDebian, noDebian, STOP, USER_OF_SERVER } from './debian-root.ts'
import {
  checkStory,
  emptyFolder,
  installSteps,
  noRelease,
  READY,
  RELEASE,
  runStory,
  upgradeRecorded,
  VERSION,
} from './release.ts'

const PACKAGES = globSync('*.deb', { cwd: RELEASE })
const PACKAGE = PACKAGES.find((name) => name.startsWith('depot_'))
const skip = noRelease || (PACKAGE === undefined && 'the release has no Debian packages') || noDebian()

const START = `depot serve > /var/log/depot.log 2>&1 &\n${READY}`
const OWNERS = `stat -c "%n %U %a" /var/lib/depot /var/backups/depot /etc/depot.env
find /var/lib/depot ! -user depot | wc -l
test ! -e /var/lib/depot/system && echo in place`
const HASHES = 'find /var/lib/depot -type f -exec sha256sum {} + | sort -k 2 | sha256sum'
const HELP = `zcat /usr/share/man/man1/depot.1.gz | head -1
. /usr/share/bash-completion/completions/depot
complete -p depot
head -1 /usr/share/zsh/vendor-completions/_depot
grep -q 'complete -c depot' /usr/share/fish/vendor_completions.d/depot.fish`

/**
 * Stands in for systemd: runs the unit of the package as its user, and records the commands. In a separate session,
 * because the terminal that apt gives its scripts hangs up at the end.
 */
const SYSTEMCTL = `#!/bin/bash
set -e
echo "$*" >> /var/log/systemctl
unit() { sed -n "s/^$1=//p" /usr/lib/systemd/system/depot.service; }
case "$*" in
  daemon-reload | "enable --quiet depot" | "is-enabled --quiet depot" | "disable --quiet depot") ;;
  "restart depot")
    ${STOP}
    cd "$(unit WorkingDirectory)"
    setsid env -i PATH=/usr/bin:/bin setpriv --reuid "$(unit User)" --regid "$(unit Group)" --clear-groups --no-new-privs \\
      $(unit ExecStart) > /var/log/depot.log 2>&1 < /dev/null & ;;
  "stop depot") ${STOP} ;;
  *) echo "systemctl $*: not expected" >&2; exit 1 ;;
esac
`

test('the Debian package installs a service, runs the story, upgrades recorded data, and keeps data when it is removed', {
  skip,
}, async (t) => {
  const { folder, remove } = emptyFolder()
  const root = join(folder, 'root')
  makeDebian(root)
  mkdirSync(join(root, 'root/data'))
  for (const name of PACKAGES) cpSync(join(RELEASE, name), join(root, 'root', name))
  const { inside, end } = await enterDebian(folder, root)
  after(async () => {
    await end()
    remove()
  })
  const steps = installSteps('Debian package')
  const removal = steps.findIndex(({ script }) => script.includes('apt-get remove'))
  assert.ok(removal > 3)

  await t.test('installation', async () => {
    for (const [n, { script, expected }] of steps.slice(0, removal).entries())
      checkOutput(await inside(script), expected, `block ${n + 1}`)
    const owners = ['/var/lib/depot depot 700', '/var/backups/depot depot 700', '/etc/depot.env root 640']
    assert.deepEqual(await inside(OWNERS), [...owners, '0', 'in place'])
    const help = await inside(HELP)
    assert.match(help.join('\n'), /^\.TH DEPOT 1 .*\ncomplete -F _depot depot\n#compdef depot$/)
    checkOutput(
      await inside('ls /usr/lib/depot/lib/node_modules'),
      ['@redis', 'depot-hosting'],
      'the clients of engines',
    )
  })

  await t.test('the story, and a restart', async () => {
    await inside('cp -r /usr/lib/depot/lib/node_modules/depot-hosting/examples .')
    await runStory(inside)
    await inside(`${STOP}\n${START}`)
    await checkStory(inside)
    await inside(STOP)
    const compiled = 'stat -c "%U %a" /var/lib/depot/compiled; ls /tmp'
    assert.deepEqual(
      await inside(compiled),
      ['depot 700', 'block.sh', 'variables'],
      'compiled code, and nothing in /tmp',
    )
  })

  await t.test('an upgrade of a recorded data folder', async () => {
    const data = join(root, 'var/lib/depot')
    await inside('mv /var/lib/depot /var/lib/depot-story')
    const serve = (recorded: string): Promise<string[]> => {
      copyFolder(recorded, data)
      return inside(`chown -R depot:depot /var/lib/depot\n${START}`)
    }
    await upgradeRecorded(inside, serve, STOP)
    await inside(`rm -r /var/lib/depot\nmv /var/lib/depot-story /var/lib/depot`)
  })

  await t.test('a new installation keeps the settings, and the mode and owner of the folders', async () => {
    await inside(`echo '# kept' >> /etc/depot.env
chmod 0750 /var/lib/depot
chown root:depot /var/backups/depot
chmod 0770 /var/backups/depot
apt-get install --yes --reinstall ./${PACKAGE}`)
    assert.deepEqual(await inside('tail -n 1 /etc/depot.env'), ['# kept'])
    assert.deepEqual(await inside('stat -c "%U:%G %a" /var/lib/depot /var/backups/depot'), [
      'depot:depot 750',
      'root:depot 770',
    ])
    assert.deepEqual(await inside('grep -c StateDirectory /usr/lib/systemd/system/depot.service || true'), ['0'])
  })

  await t.test('removal keeps the data', async () => {
    const before = await inside(HASHES)
    for (const [n, { script, expected }] of steps.slice(removal).entries()) {
      checkOutput(await inside(script), expected, `block ${n + 1} of the removal`)
      assert.equal(existsSync(join(root, 'etc/depot.env')), n === 0, 'the settings')
    }
    assert.deepEqual(await inside(HASHES), before)
    assert.ok(!existsSync(join(root, 'usr/lib/depot')) && !existsSync(join(root, 'usr/bin/depot')))
  })

  await t.test(
    'with systemd, the installation starts the service on the former data, also over a running one, and the removal stops it',
    async () => {
      writeFileSync(join(root, 'usr/bin/systemctl'), SYSTEMCTL, { mode: 0o755 })
      // As in the images of Debian for containers, also for packages of others.
      const excluded = ['doc', 'man', 'info', 'locale', 'lintian'].map((name) => `path-exclude /usr/share/${name}/*\n`)
      writeFileSync(join(root, 'etc/dpkg/dpkg.cfg.d/slim'), excluded.join(''))
      await inside(`mkdir -p /run/systemd/system\napt-get install --yes ./${PACKAGE}\n${READY}`)
      await checkStory(inside)
      assert.ok(!existsSync(join(root, 'usr/share/doc/depot')), 'the exclusions work')
      assert.deepEqual(await inside(USER_OF_SERVER), ['depot'])
      checkOutput(await inside('depot --version'), [`${VERSION} (…)`], 'the service')

      const [before] = await inside('pgrep -o -f depot.mjs')
      await inside(`apt-get install --yes --reinstall ./${PACKAGE}\n${READY}`)
      await checkStory(inside)
      assert.notDeepEqual(await inside('pgrep -o -f depot.mjs'), [before], 'an installation over a running service')

      // Without its last migration, the program is an older release than the data.
      await inside('rm "$(ls /usr/lib/depot/lib/node_modules/depot-hosting/migrations/*.sql | tail -n 1)"')
      await inside(STOP)
      const refused = await inside('depot serve 2>&1 || echo "exit code $?"')
      assert.match(refused.join('\n'), /Install the release of Depot that last used the database.*\nexit code 1$/s)
      await inside(`apt-get install --yes --reinstall ./${PACKAGE}\n${READY}`)
      await checkStory(inside)

      await inside('apt-get remove --yes depot\n! pgrep -f depot.mjs')
      const start = ['is-enabled --quiet depot', 'restart depot']
      const first = ['daemon-reload', 'enable --quiet depot', ...start]
      // The scripts of the replaced package run too.
      const again = ['stop depot', 'daemon-reload', 'daemon-reload', ...start]
      const removed = ['stop depot', 'disable --quiet depot', 'daemon-reload']
      assert.deepEqual(await inside('cat /var/log/systemctl'), [...first, ...again, ...again, ...removed])
    },
  )
})
