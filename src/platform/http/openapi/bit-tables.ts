// Scopes and permissions as tables for people who read the description: which bit, which number, which name.
import { BADGES, ORGANIZATION_PERMISSIONS, PROJECT_PERMISSIONS } from '#lib/access/permissions.ts'
import { SCOPES } from '#lib/access/scopes.ts'

/** Every scope, lowest bit first, as Markdown. */
export function scopeTable(): string {
  const rows = SCOPES.map(({ name, value, explanation, restricted }) => {
    const holder = restricted ? ' (sessions only)' : ''
    return `| ${Math.log2(value)} | ${value} | \`${name}\` | ${explanation}${holder} |`
  })
  return ['| bit | number | name | what it allows |', '|---|---|---|---|', ...rows].join('\n')
}

/** Permissions of members in projects and organizations, and badges, as Markdown. */
export function permissionTables(): string {
  const tables = [
    ['Permissions of a member of a project (`permissions`)', PROJECT_PERMISSIONS],
    ['Permissions of a member of an organization (`organization_permissions`)', ORGANIZATION_PERMISSIONS],
    ['Badges of an account (`badges`)', BADGES],
  ] as const
  return tables
    .map(([title, bits]) => {
      const rows = Object.entries(bits).map(([name, value]) => `| ${Math.log2(value)} | ${value} | \`${name}\` |`)
      return [`${title}:`, '', '| bit | number | name |', '|---|---|---|', ...rows].join('\n')
    })
    .join('\n\n')
}
