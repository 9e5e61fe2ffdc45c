// Entry point of an HTTP process, which the supervisor of `depot serve` starts. Its arguments are its name, the socket of
// the hub, and whether it listens on the port itself (`port`) or accepts connections from the main process (`handle`).
import { startRecording } from '#features/operations/overview/figures/record-figures.ts'
import { drain, stopListening } from '#main/http-server.ts'
import type { Config } from '#platform/config/config.ts'
import { loadConfig } from '#platform/config/load-config.ts'
import { createLog, isTextFormat } from '#platform/telemetry/log.ts'
import { connectToHub, joinHub } from './http-process.ts'
import { metricsOf } from './shared-metrics.ts'

process.umask(0o077)
const [name = '', socketPath = '', listening = 'port'] = process.argv.slice(2)
// A terminal sends it to all processes; the main process decides.
process.on('SIGINT', () => {})
// biome-ignore lint/style/noProcessEnv: an entry point, like that of the command line
const config = withShare(loadConfig(process.env))
const log = createLog({
  level: config.log.level,
  buffered: true,
  asText: isTextFormat(config.log.format),
  process: name,
})
const channel = await connectToHub(socketPath)
// The process cannot work without the hub; the next start replaces both.
void channel.closed.then(() => process.exit(1))
const { booted, app, rateGrants, stopping } = await joinHub(channel, { config, log })
const { tags } = booted.deps
await booted.listen([...rateGrants.subscribers, ...tags.subscribers])
await Promise.all([rateGrants.refresh(), tags.refresh()])
const figures = startRecording(booted.deps)
const { host, port, drainMs } = config.http
const url = await app.listen({ host, port, ...(listening === 'port' ? { reusePort: true } : {}) })
const terminated = new Promise<void>((resolve) => {
  process.on('SIGTERM', async () => {
    if (app.isDraining()) return
    await channel.call('hub.leaving', [name, process.pid]).catch(() => undefined)
    await drain(app, drainMs)
    resolve()
  })
})
await channel.call('hub.listening', [name, url])
await Promise.race([stopping, terminated])
await stopListening(app, log)
await figures.stop()
await booted.close()
await channel.call('hub.metrics.last', [await metricsOf(booted.deps.metrics.registry)]).catch(() => undefined)
log.flush()
process.exit(0)

/** Divides limits of the whole server that each process counts on its own. */
function withShare(whole: Config): Config {
  const { connectionsPerAddress, processes } = whole.http
  if (connectionsPerAddress === undefined) return whole
  const share = Math.ceil(connectionsPerAddress / processes)
  return { ...whole, http: { ...whole.http, connectionsPerAddress: share } }
}
