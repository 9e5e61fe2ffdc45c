// What operators set while the service runs, and what everybody may know of it.
import { operatorOf } from '#features/basics/audit/actor.ts'
import { leaveBodiesUnparsed, readRawBody } from '#platform/http/bodies/raw-body.ts'
import { mountInternal } from '#platform/http/mounts.ts'
import { done } from '#platform/http/responses/declared-responses.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { MarkQuery, SettingsPatch } from './requests.ts'
import { MARK_BYTES_MAX, replaceMark, setMark } from './set-mark.ts'
import { getSettings, listSettingsRows, toSettings } from './settings-cache.ts'
import { updateSettings } from './update-settings.ts'
import { InstanceView, SettingsView, toSettingsView } from './views.ts'

type SettingsDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

/** For everybody. */
export function instanceRoute(app: App, deps: SettingsDeps): void {
  mountInternal(app, (scope) =>
    scope.get(
      '/instance',
      {
        config: { auth: 'public', cache: 'shared' },
        schema: {
          operationId: 'getInstance',
          summary: 'Name, texts and state of this instance',
          response: { 200: InstanceView },
        },
      },
      () => getSettings(deps),
    ),
  )
}

/** Operator routes. */
export function settingsRoutes(app: App, deps: Deps): void {
  mountInternal(app, (scope) => {
    scope.get(
      '/admin/settings',
      {
        config: { auth: 'operator' },
        schema: {
          operationId: 'getSettings',
          summary: 'Settings that change while the service runs, as they are in force',
          response: { 200: SettingsView },
        },
      },
      async () => {
        const [row] = await listSettingsRows(deps.db)
        return toSettingsView(toSettings(row, deps.config), row)
      },
    )
    scope.patch(
      '/admin/settings',
      {
        // The way out of read-only mode.
        config: { auth: 'operator', whenReadOnly: 'answers' },
        schema: {
          operationId: 'updateSettings',
          summary: 'Change settings; null takes one back to what the environment says',
          description: 'In force in every process within a second.',
          body: SettingsPatch,
        },
      },
      async (req, reply) => {
        await updateSettings(deps, operatorOf(req), req.body)
        return done(reply)
      },
    )
    scope.register(async (plain) => {
      const pictures = plain as App
      leaveBodiesUnparsed(pictures)
      pictures.patch(
        '/admin/settings/mark',
        {
          config: { auth: 'operator', cost: COSTS.picture },
          schema: {
            operationId: 'setMark',
            summary: 'Set the picture that stands for the instance',
            description: `The body is the picture itself: square and still, at most ${MARK_BYTES_MAX} bytes.`,
            consumes: ['image/*'],
            querystring: MarkQuery,
          },
        },
        async (req, reply) => {
          await deps.files.assertAvailable()
          const bytes = await readRawBody(req.body, { maxBytes: MARK_BYTES_MAX, field: 'mark' })
          await setMark(deps, operatorOf(req), { bytes, ext: req.query.ext.toLowerCase() })
          return done(reply)
        },
      )
    })
    scope.delete(
      '/admin/settings/mark',
      {
        config: { auth: 'operator' },
        schema: { operationId: 'deleteMark', summary: 'Take the mark back to the one that Depot draws' },
      },
      async (req, reply) => {
        await replaceMark(deps, operatorOf(req), null)
        return done(reply)
      },
    )
  })
}
