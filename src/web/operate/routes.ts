// The pages for operators. docs/site.md explains how to add a page.
import type { App } from '#platform/http/server.ts'
import { type Pages, registerArea } from '#web/kit/pages.ts'
import type { WebDeps } from '#web/kit/request.ts'
import { WORK_AREA } from '#web/kit/work/work-page.ts'

/** Functions that register pages. Users who are not operators get 404 from all of them. */
const PAGES: readonly ((pages: Pages) => void)[] = []

export function operatorPages(app: App, web: WebDeps): void {
  registerArea(app, web, WORK_AREA, (pages) => {
    for (const register of PAGES) register(pages)
  })
}
