// Runs the blocks of docs/api/v2.md that serve Depot under the host names of the original service, in separate namespaces for the
// network and the processes, with copies of the folders that the blocks change.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { checkOutput, notInstalled, openShell, readSteps } from '#test/support/processes/documented-steps.ts'
import { makeDataDir } from '#test/support/processes/running-depot.ts'

const ROOT = join(import.meta.dirname, '../..')
const PROGRAMS = ['unshare', 'ip', 'dnsmasq', 'openssl', 'curl', 'python3', 'update-ca-certificates', '/usr/sbin/nginx']

/** Programs in languages whose clients have the host names in their code. They print the status of a response. */
const MORE_CLIENTS = [
  {
    language: 'Java',
    needs: 'java',
    file: 'Check.java',
    source: `import java.net.URI; import java.net.http.*;
class Check { public static void main(String[] words) throws Exception {
  var request = HttpRequest.newBuilder(URI.create(words[0])).build();
  var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
  System.out.println("Java: " + response.statusCode()); } }`,
    command: 'java Check.java',
  },
  {
    language: 'Go',
    needs: 'go',
    file: 'check.go',
    source: `package main
import ("fmt"; "net/http"; "os")
func main() {
  response, err := http.Get(os.Args[1])
  if err != nil { panic(err) }
  fmt.Println("Go:", response.StatusCode)
}`,
    command: 'go run check.go',
  },
]

test('the chapter of docs/api/v2.md on built-in host names works as written', {
  skip: process.getuid?.() === 0 ? notInstalled(PROGRAMS) : 'only root can create the namespaces',
}, async () => {
  const { dataDir: folder, remove } = makeDataDir()
  for (const name of ['work', 'tools', 'data', 'authorities', 'logs']) mkdirSync(join(folder, name), { mode: 0o755 })
  writeFileSync(join(folder, 'tools/systemctl'), SYSTEMCTL, { mode: 0o755 })
  writeFileSync(join(folder, 'nginx.conf'), NGINX)
  const shell = openShell(join(folder, 'work'), {
    env: { PATH: `${folder}/tools:${process.env['PATH']}`, DATA_DIR: join(folder, 'data'), ROOT, FOLDER: folder },
    command: ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'],
  })
  after(async () => {
    await shell.end()
    remove()
  })
  await shell.run(SERVER)
  for (const [n, { script, expected }] of readSteps('docs/api/v2.md', 'Serve the built-in host names').entries())
    checkOutput(await shell.run(script), expected, `block ${n + 1}`)
  for (const { language, needs, file, source, command } of MORE_CLIENTS) {
    if (notInstalled([needs])) continue
    writeFileSync(join(folder, 'work', file), source)
    checkOutput(await shell.run(`(cd ${folder}/work && ${command} $STATISTICS)`), [`${language}: 200`], language)
  }
  // The URL of a file has the other host name and works.
  checkOutput(await shell.run(DOWNLOAD), ['https://cdn.modrinth.com/data/… 200'], 'the download')
})

/** Prepares what the chapter requires: a server with the address, nginx with the file of Depot, and an instance with projects. */
const SERVER = `
cp -a /etc $FOLDER/etc && mount --bind $FOLDER/etc /etc
mount --bind $FOLDER/authorities /usr/local/share/ca-certificates
mount -t tmpfs tmpfs /run
ip link set lo up && ip address add 10.0.0.5/24 dev lo
echo 'nameserver 10.0.0.5' > /etc/resolv.conf
mkdir -p /etc/dnsmasq.d /etc/nginx/conf.d /etc/letsencrypt/live/depot.example.org
rm -f /etc/dnsmasq.d/* /etc/nginx/conf.d/*
cp $FOLDER/nginx.conf /etc/nginx/nginx.conf
cp $ROOT/deploy/nginx/depot.conf /etc/nginx/conf.d/
openssl req -x509 -newkey rsa:2048 -nodes -days 7 -subj /CN=depot.example.org \\
  -keyout /etc/letsencrypt/live/depot.example.org/privkey.pem -out /etc/letsencrypt/live/depot.example.org/fullchain.pem
printf 'BASE_URL=https://depot.example.org\\nCLIENT_ADDRESS_HEADER=X-Real-IP\\n' > /etc/depot.env
$ROOT/bin/depot seed --projects 3
`

/** Stands in for systemd, which runs in no container: starts the three services, and waits until Depot is ready. */
const SYSTEMCTL = `#!/bin/bash
set -e
case "$*" in
  "restart dnsmasq")
    dnsmasq --conf-dir=/etc/dnsmasq.d --no-resolv --user=root --pid-file=/run/dnsmasq.pid ;;
  "reload nginx")
    nginx -q -t && nginx ;;
  "restart depot")
    set -a && . /etc/depot.env
    "$ROOT/bin/depot" serve > "$FOLDER/logs/depot.log" 2>&1 < /dev/null &
    curl -sf -o /dev/null --retry 1200 --retry-all-errors --retry-delay 1 http://127.0.0.1:8080/ready ;;
  *) echo "systemctl $*: not expected" >&2; exit 1 ;;
esac
`

const NGINX = `pid /run/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  include /etc/nginx/conf.d/*.conf;
}
`

const DOWNLOAD = `
project=$(curl -s 'https://api.modrinth.com/v2/search?limit=1' | grep -o '"project_id":"[^"]*"' | cut -d '"' -f 4)
file=$(curl -s "https://api.modrinth.com/v2/project/$project/version" | grep -o '"url":"[^"]*"' | head -1 | cut -d '"' -f 4)
curl -s -o /dev/null -w "$file %{http_code}\\n" "$file"
`
