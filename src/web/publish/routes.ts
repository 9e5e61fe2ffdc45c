// The pages for publishers: dashboard, new projects, settings and versions. docs/site.md explains how to add a page.
import type { App } from '#platform/http/server.ts'
import { registerArea } from '#web/kit/pages.ts'
import type { WebDeps } from '#web/kit/request.ts'
import { WORK_AREA } from '#web/kit/work/work-page.ts'
import { generalPages } from './project/general.ts'

export function publishPages(app: App, web: WebDeps): void {
  const { taxonomy } = web.deps
  registerArea(app, web, WORK_AREA, (pages) => {
    generalPages(pages, taxonomy)
  })
}
