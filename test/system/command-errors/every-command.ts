// Runs commands in this process, which a test starts in a mount namespace or as another user (RUN_AS). Reads their
// arguments from standard input as JSON, and writes one line of JSON per command to the file descriptor 3.
import { writeSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { commandHere } from '#test/support/processes/command-here.ts'

const user = process.env['RUN_AS']
if (user !== undefined) process.setuid?.(Number(user))
for (const args of JSON.parse(await text(process.stdin)) as string[][]) {
  const finished = await commandHere(args, { ...process.env }, 'violet-harbour-lantern-42\n')
  writeSync(3, `${JSON.stringify({ args, ...finished })}\n`)
}
process.exit(0)
