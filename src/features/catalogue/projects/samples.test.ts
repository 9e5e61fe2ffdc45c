// Requests for the tests of all operations.
import {
  type Declared,
  DRY_RUN,
  icon,
  ids,
  inDays,
  NAMES,
  PICTURE,
  picture,
  type Sample,
  send,
  shows,
  slug,
  viewAt,
} from '#test/api/operations/sample.ts'
import type { World } from '#test/api/operations/world.ts'
import { PNG } from '#test/support/http/forms.ts'

export const asPng = { query: { ext: 'png' }, headers: picture.headers }
/** Returns the URL of an image that the owner added to the gallery. */
export const galleryUrl = async (w: World): Promise<string> => {
  const path = `/v3/project/${await w.id('project')}`
  const owner = w.t.as(await w.person('owner'))
  const added = await owner.post(`${path}/gallery`, PNG, asPng)
  // A sample that asks twice finds it there already.
  if (added.statusCode !== 204 && added.statusCode !== 400)
    throw new Error(`No image was added: ${added.statusCode} ${added.body}`)
  return (await owner.get(path)).json().gallery[0].url
}
const LINK = { issues: 'https://example.org/declared' }
export const projectTexts = {
  name: send('Another name'),
  summary: send('Another summary of it.'),
  description: send('Another description'),
  license_url: send('https://example.org/license'),
  public_statistics: send(false),
  other_names: send(['LNT']),
  version_order: send('number'),
  license_decided: send(false),
  project_type: send('shader', { at: 'project_types.0' }),
  link_urls: send(LINK, { at: 'link_urls.issues.url', shows: LINK.issues }),
}
const makeApproved = async ({ t, id }: World) =>
  t.deps.db
    .updateTable('project')
    .set({ approved: new Date() })
    .where('id', '=', await id('project'))
    .execute()
const onlyPicture: Declared['view'] = async (read, world) =>
  ((await read(`/v3/project/${await world.id('project')}`)) as { gallery: unknown[] }).gallery[0]

export const SAMPLES: Record<string, Sample> = {
  getProject: shows('version'),
  listProjects: ids('project'),
  listRandomProjects: { query: { count: '1' } },
  listSimilarProjects: { query: { name: 'Lantern' } },
  updateProject: { body: { summary: 'A light to carry' } },
  updateProjects: { ...ids('project'), body: { add_categories: ['magic'] } },
  setProjectIcon: icon,
  addGalleryPicture: icon,
  updateGalleryPicture: { query: async (w) => ({ url: await galleryUrl(w), name: 'Dusk' }) },
  removeGalleryPicture: { query: async (w) => ({ url: await galleryUrl(w) }) },
}

export const DECLARED: Record<string, Declared> = {
  updateProject: {
    view: viewAt('/v3/project', 'project'),
    fields: {
      ...projectTexts,
      categories: send(['technology']),
      additional_categories: send(['storage']),
      license_id: send('Apache-2.0', { at: 'license.id' }),
      license_url: send('https://example.org/license', { at: 'license.url' }),
      slug: send(slug),
      status: send('unlisted'),
      requested_status: send('private'),
      scheduled_at: send(() => inDays(3), {
        needs: { status: 'scheduled', requested_status: 'approved' },
        before: makeApproved,
      }),
      moderation_message: send('Please name the author', { by: 'moderator', at: 'moderator_message.message' }),
      moderation_message_body: send('In the description', {
        by: 'moderator',
        at: 'moderator_message.body',
        needs: { moderation_message: 'Please' },
      }),
      monetization_status: send('demonetized'),
    },
    unseen: {
      seen: 'is what the moderator has seen; changes.test.ts sends it',
      publishing: 'is in the list of trusted publishers; trusted-publishers.test.ts sends it',
      dry_run: DRY_RUN,
    },
  },
  updateProjects: {
    view: viewAt('/v3/project', 'project'),
    fields: {
      categories: send(['technology']),
      add_categories: send(['technology'], { at: 'categories', needs: { categories: [] } }),
      remove_categories: send(['magic'], {
        at: 'categories',
        needs: { categories: ['magic', 'mobs'] },
        shows: ['mobs'],
      }),
      additional_categories: send(['storage']),
      add_additional_categories: send(['storage'], {
        at: 'additional_categories',
        needs: { additional_categories: [] },
      }),
      remove_additional_categories: send(['magic'], {
        at: 'additional_categories',
        needs: { additional_categories: ['magic', 'mobs'] },
        shows: ['mobs'],
      }),
      link_urls: projectTexts.link_urls,
    },
    unseen: { ids: NAMES, dry_run: DRY_RUN },
  },
  setProjectIcon: { view: viewAt('/v3/project', 'project'), unseen: { ext: PICTURE } },
  updateGalleryPicture: {
    view: onlyPicture,
    fields: {
      name: send('At dusk'),
      title: send('At dawn', { needs: { name: undefined } }),
      description: send('A lantern on a hill'),
      featured: send(true),
      ordering: send(7),
      video: send('https://youtu.be/abcdefghijk', { shows: 'https://www.youtube.com/watch?v=abcdefghijk' }),
    },
    unseen: { url: 'identifies the image' },
  },
}
