// Paths that other sites of this kind use. They lead to the pages of this site. docs/contributors/site.md lists them.
import type { Taxonomy } from '#taxonomy/taxonomy.ts'
import type { Pages } from '#web/kit/pages.ts'
import { listPath, offeredTypes, PATHS } from '#web/kit/paths.ts'

/** Old path → path of this site. The query stays. A path that ends in `/*` contains all paths below it. */
const MOVED: Readonly<Record<string, string>> = {
  '/discover': PATHS.search,
  '/settings': PATHS.profile,
  '/settings/profile': PATHS.profile,
  '/settings/account': PATHS.security,
  '/settings/sessions': PATHS.data,
  '/settings/pats': PATHS.tokens,
  '/settings/applications': PATHS.applications,
  '/settings/authorizations': PATHS.authorizations,
  '/settings/*': PATHS.profile,
  '/auth/sign-in': PATHS.signIn,
  '/auth/sign-up': PATHS.signUp,
  '/auth/reset-password': PATHS.forgotPassword,
  '/legal/rules': '/rules',
  '/legal/terms': '/terms',
  '/legal/privacy': '/privacy',
}

/** Types after the path of a user, organization or collection: `/user/name/mods`. */
const OWNERS = ['/user/:name', '/organization/:name', '/collection/:id']

export function movedPages(pages: Pages, taxonomy: Taxonomy): void {
  const lists = offeredTypes(taxonomy).map(listPath)
  const moved = { ...MOVED, ...Object.fromEntries(lists.map((path) => [`/discover${path}`, path])) }
  for (const [from, to] of Object.entries(moved))
    pages.open('GET', from, 'siteMoved', async ({ redirectPermanently }) => redirectPermanently(to), { shows: false })
  for (const owner of OWNERS)
    for (const list of lists)
      pages.open(
        'GET',
        `${owner}${list}`,
        'siteMovedList',
        async ({ req, redirectPermanently }) => {
          const [, segment, name] = new URL(req.raw.url ?? '', 'http://local').pathname.split('/')
          return redirectPermanently(`/${segment}/${name}`)
        },
        { shows: false },
      )
  // https://www.w3.org/TR/change-password-url: programs that store passwords open this path.
  pages.open(
    'GET',
    '/.well-known/change-password',
    'siteChangePassword',
    async ({ redirect }) => redirect(PATHS.security),
    { shows: false },
  )
}
