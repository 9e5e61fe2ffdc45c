import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Role, Viewer } from '#features/basics/access/viewer.ts'
import {
  canSeeRow,
  defaultProjectPermissions,
  isAcceptedIn,
  type MemberFacts,
  organizationPermissions,
} from './team-policy.ts'

const viewer = (role: Role): Viewer => ({
  id: 'someone1',
  role,
  emailVerified: true,
  caller: '127.0.0.1',
  address: '127.0.0.1',
  scopes: 0,
  token: { kind: 'session', id: 'session1' },
})
const row = (fields: Partial<MemberFacts> = {}): MemberFacts => ({
  account_id: 'someone1',
  is_owner: false,
  accepted: true,
  permissions: 5,
  organization_permissions: 3,
  ...fields,
})

test('organization permissions: admin, then membership, then moderator, first match wins', () => {
  const pending = row({ accepted: false })
  const cases: [Viewer | null, MemberFacts | undefined, number][] = [
    [null, undefined, 0],
    [viewer('developer'), undefined, 0],
    [viewer('developer'), pending, 0],
    [viewer('developer'), row(), 3],
    [viewer('developer'), row({ organization_permissions: null }), 0],
    [viewer('moderator'), undefined, 17],
    [viewer('moderator'), pending, 17],
    [viewer('moderator'), row(), 3],
    [viewer('admin'), undefined, 255],
    [viewer('admin'), row(), 255],
  ]
  for (const [who, membership, bits] of cases) assert.equal(organizationPermissions(who, membership), bits)
})

test('a member of an organization can grant only their own project permissions', () => {
  assert.equal(defaultProjectPermissions(viewer('developer'), row()), 5)
  assert.equal(defaultProjectPermissions(viewer('developer'), row({ accepted: false })), 0)
  assert.equal(defaultProjectPermissions(viewer('moderator'), undefined), 0)
  assert.equal(defaultProjectPermissions(viewer('admin'), undefined), 1023)
})

test('pending rows are for members and for the invitee', () => {
  const pending = row({ accepted: false })
  const foreign = row({ account_id: 'another1', accepted: false })
  assert.equal(isAcceptedIn([pending], viewer('developer')), false)
  assert.equal(isAcceptedIn([row()], viewer('developer')), true)
  assert.equal(isAcceptedIn([row()], null), false)
  assert.deepEqual(
    [pending, foreign].map((each) => canSeeRow(each, viewer('admin'), false)),
    [true, false],
  )
  assert.deepEqual(
    [pending, foreign, row()].map((each) => canSeeRow(each, null, false)),
    [false, false, true],
  )
  assert.equal(canSeeRow(foreign, viewer('developer'), true), true)
})
