// `depot resume`: ends the state of a copy that `depot restore --quiet` made.
import { readArguments } from '#cli/kit/arguments.ts'
import { type Env, print, withDeps } from '#cli/kit/with-deps.ts'
import { COMMAND } from '#features/basics/audit/actor.ts'
import { resume } from '#features/basics/settings/resume.ts'

export async function resumeCommand(args: readonly string[], env: Env): Promise<void> {
  const { values } = readArguments(args, { json: 'boolean' })
  await withDeps(env, async (deps) => {
    const resumed = await resume(deps, COMMAND)
    const text = resumed
      ? 'Resumed: jobs, schedules, emails and webhooks of this copy run again, with those that waited'
      : 'This copy of the instance is not quiet'
    print({ json: { resumed }, text }, values.json)
  })
}
