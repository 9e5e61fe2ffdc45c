// The route to take content down, for moderators.
import { requireViewer } from '#platform/http/auth/auth.ts'
import type { App } from '#platform/http/server.ts'
import { parseTakedown, TakedownInput } from './requests.ts'
import { findContent, type TakedownDeps, takeDown } from './take-down.ts'
import { TakedownView, toTakedownView } from './views.ts'

export function takedownRoutes(app: App, deps: TakedownDeps): void {
  app.post(
    '/moderation/takedown',
    {
      config: {
        auth: { scope: ['PROJECT_WRITE', 'VERSION_WRITE', 'COLLECTION_WRITE', 'USER_WRITE'] },
        role: 'moderator',
      },
      schema: {
        operationId: 'takeDown',
        summary: 'Take content down',
        description:
          'Withholds the content and deletes nothing. With `dry_run`, only returns what the takedown would change. Adds ' +
          'entries to the audit log and notifies the members.',
        body: TakedownInput,
        response: { 200: TakedownView },
      },
    },
    async (req) => {
      const viewer = requireViewer(req)
      const takedown = parseTakedown(req.body, deps.taxonomy)
      if (req.body.dry_run === true) return toTakedownView(await findContent(deps, takedown), false)
      return toTakedownView(await takeDown(deps, viewer, takedown), true)
    },
  )
}
