// Settings that operators change while the service runs, and the public view of the instance.
import { operatorOf } from '#features/basics/audit/actor.ts'
import { leaveBodiesUnparsed, readRawBody } from '#platform/http/bodies/raw-body.ts'
import { mountInternal, openScope } from '#platform/http/mounts.ts'
import { COSTS } from '#platform/http/route-config.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'
import { MarkQuery, SettingsPatch } from './requests.ts'
import { MARK_BYTES_MAX, replaceMark, setMark } from './set-mark.ts'
import { announcementAt, getSettings, getSettingsRow, toSettings } from './settings-cache.ts'
import { updateSettings } from './update-settings.ts'
import { InstanceView, SettingsView, toInstanceView, toSettingsView } from './views.ts'

type SettingsDeps = Pick<Deps, 'db' | 'cache' | 'config' | 'now'>

export function instanceRoute(app: App, deps: SettingsDeps): void {
  mountInternal(app, (scope) =>
    scope.get('/instance', {
      config: { auth: 'public', cache: 'shared' },
      schema: {
        operationId: 'getInstance',
        summary: 'Get the name, texts and state of this instance',
        response: { 200: InstanceView },
      },
      handler: async () => {
        const settings = await getSettings(deps)
        const announcement = announcementAt(settings, deps.now())
        const announcement_link = announcement === null ? null : settings.announcement_link
        return toInstanceView({ ...settings, announcement, announcement_link })
      },
    }),
  )
}

export function settingsRoutes(app: App, deps: Deps): void {
  mountInternal(app, (scope) => {
    scope.get('/admin/settings', {
      config: { auth: 'operator' },
      schema: {
        operationId: 'getSettings',
        summary: 'Get the current values of the settings',
        response: { 200: SettingsView },
      },
      handler: async () => {
        const row = await getSettingsRow(deps.db)
        return toSettingsView(toSettings(row, deps.config), row)
      },
    })
    scope.patch('/admin/settings', {
      // Operators need this route to leave read-only mode.
      config: { auth: 'operator', whenReadOnly: 'answers' },
      schema: {
        operationId: 'updateSettings',
        summary: 'Update settings; null resets a setting to its value from the environment',
        description: 'The change takes effect in every process within one second.',
        body: SettingsPatch,
      },
      handler: (req): Promise<void> => updateSettings(deps, operatorOf(req), req.body),
    })
    openScope(scope, (images) => {
      leaveBodiesUnparsed(images)
      images.patch('/admin/settings/mark', {
        config: { auth: 'operator', cost: COSTS.picture },
        schema: {
          operationId: 'setMark',
          summary: 'Set the logo of the instance',
          description: `The body is the image: square, not animated, at most ${MARK_BYTES_MAX} bytes.`,
          consumes: ['application/octet-stream'],
          querystring: MarkQuery,
        },
        handler: async (req) => {
          await deps.files.assertAvailable()
          const bytes = await readRawBody(req.body, { maxBytes: MARK_BYTES_MAX, field: 'mark' })
          await setMark(deps, operatorOf(req), { bytes, ext: req.query.ext.toLowerCase() })
        },
      })
    })
    scope.delete('/admin/settings/mark', {
      config: { auth: 'operator' },
      schema: { operationId: 'deleteMark', summary: 'Delete the custom logo and use the default logo' },
      handler: (req): Promise<void> => replaceMark(deps, operatorOf(req), null),
    })
  })
}
