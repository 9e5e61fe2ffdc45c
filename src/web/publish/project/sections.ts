// The sections of the project settings, in the order of the rail. Each settings page has an entry.
import type { IconName } from '#web/ui/icons.ts'
import type { MessageKey } from '#web/ui/languages.ts'
import type { RailItem } from '#web/ui/parts/frame.ts'
import type { ManagedProject } from './managed-project.ts'

export type Section = {
  /** Path below `…/settings`. */
  below: string
  label: MessageKey
  icon: IconName
  /** Count and mark of the entry. */
  count?: (data: ManagedProject) => Pick<RailItem, 'count' | 'mark'>
  isDanger?: boolean
}

export const SECTIONS: readonly { title?: MessageKey; items: readonly Section[] }[] = [
  {
    items: [
      { below: '', label: 'manage.general', icon: 'cog' },
      { below: '/description', label: 'manage.description', icon: 'book' },
      { below: '/tags', label: 'manage.tags', icon: 'tags' },
      { below: '/links', label: 'manage.links', icon: 'link' },
      {
        below: '/gallery',
        label: 'manage.gallery',
        icon: 'image',
        count: ({ view }) => ({ count: view.gallery.length }),
      },
      { below: '/versions', label: 'upload.versions', icon: 'package' },
    ],
  },
  {
    title: 'manage.group.project',
    items: [
      { below: '/members', label: 'people.members', icon: 'users' },
      { below: '/organization', label: 'people.organization', icon: 'building' },
      { below: '/analytics', label: 'numbers.title', icon: 'chart' },
      { below: '/revenue', label: 'revenue.project', icon: 'coins' },
      { below: '/publishing', label: 'publishers.title', icon: 'key' },
      { below: '/advisories', label: 'advisories.title', icon: 'warning' },
      { below: '/webhooks', label: 'webhooks.title', icon: 'send' },
      { below: '/visibility', label: 'people.visibility', icon: 'eye' },
      { below: '/review', label: 'publish.review', icon: 'gavel' },
      { below: '/transfer', label: 'people.transfer', icon: 'transfer' },
      { below: '/delete', label: 'people.delete', icon: 'trash', isDanger: true },
    ],
  },
]
