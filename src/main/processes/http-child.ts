// Entry of an HTTP process, which `depot serve` starts: its name, the socket of the hub, how it listens.
import { runHttpProcess } from './http-process.ts'

const [name = '', socketPath = '', listening = 'port'] = process.argv.slice(2)
// biome-ignore lint/style/noProcessEnv: an entry, like that of the command line
await runHttpProcess({ name, socketPath, sharesPort: listening === 'port', env: process.env })
