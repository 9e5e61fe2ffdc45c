// The pages for operators in every look.
import { lookAtPages } from '#test/support/browser/looks.ts'
import { makeWorkPages } from '#test/support/pages/work-pages.ts'

lookAtPages(async (t) => (await makeWorkPages(t, ['operate'])).pages)
