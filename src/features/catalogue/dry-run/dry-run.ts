// Runs the commands of routes that create and change projects and versions, without their effects if the request asks for it.
import type { FastifyReply } from 'fastify'
import { APPLIED, isDryRun, prefersDryRun } from '#lib/dry-run-request.ts'
import { dryRun } from '#platform/cache/transaction.ts'
import type { Deps } from '#ports/deps.ts'
import type { Look } from './look.ts'

/** Runs `command` without its effects, and sends what it would store. */
export async function sendDryRun(
  reply: FastifyReply,
  deps: Deps,
  command: (deps: Deps) => Promise<unknown>,
  look: Look,
): Promise<FastifyReply> {
  const { found, warnings } = await dryRun(deps, command, look)
  if (prefersDryRun(reply.request)) reply.headers(APPLIED)
  return reply.status(200).send({ valid: true, warnings, would: found })
}

/** Runs `command`, without its effects if the request asks for a dry run. Responds without a body: the request is valid. */
export async function sendDone(
  reply: FastifyReply,
  deps: Deps,
  command: (deps: Deps) => Promise<unknown>,
): Promise<FastifyReply> {
  if (!isDryRun(reply.request)) await command(deps)
  else {
    await dryRun(deps, command, async () => {})
    if (prefersDryRun(reply.request)) reply.headers(APPLIED)
  }
  return reply.status(204).send(null)
}
