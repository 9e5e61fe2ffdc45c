// Organizations, collections, analytics and personal pages in every look.
import { lookAtPages } from '#test/support/browser/looks.ts'
import { makeWorkPages } from '#test/support/pages/work-pages.ts'

lookAtPages(async (t) => (await makeWorkPages(t, ['groups'])).pages, {
  'depot-setup': encodeURIComponent('1.21.8|fabric'),
})
