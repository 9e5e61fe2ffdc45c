// The pages of the public site in every look, as a user sees them who is signed in.
import { lookAtPages } from '#test/support/browser/looks.ts'
import { makeSitePages } from '#test/support/pages/site-pages.ts'

lookAtPages(async (t) => {
  const by = await t.make.account()
  return (await makeSitePages(t)).pages.map((page) => ({ ...page, by }))
})
