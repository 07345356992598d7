import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ConsoleOperationRow } from '../../src/api/console-operation-row.js'
import { consoleOperations } from '../../src/api/console-operations.js'
import { eventStream } from '../../src/api/console-streams.js'
import { openApiDocument } from '../../src/api/openapi.js'
import type { UserId } from '../../src/domain/ids.js'
import { ROLES, type Role } from '../../src/domain/role.js'
import { CONSOLE_TOKEN, type Harness, readError, startHarness } from './harness.js'

/** What a role lets a person do in an account, at the one gate before all console operations. */

let harness: Harness
let personId = 'user_2'
let role: Role = 'owner'

beforeAll(async () => {
  harness = await startHarness({
    consolePerson: () => ({ personId: personId as UserId, role }),
    ratePolicy: { name: 'test', refillPerSecond: 0, burst: 60 },
  })
})
afterAll(() => harness.server.close())
// A bucket of their own for each test.
beforeEach(({ task }) => {
  personId = `user_of_${task.name}`
})

const rows: readonly Pick<ConsoleOperationRow, 'name' | 'method' | 'path'>[] = consoleOperations

function ask({ method, path }: Pick<ConsoleOperationRow, 'method' | 'path'>): Promise<Response> {
  const url = `${harness.baseUrl}${path.replaceAll(/:\w+/g, 'none')}`
  const headers = { authorization: `Bearer ${CONSOLE_TOKEN}`, 'content-type': 'application/json' }
  // No operation takes it, so that one which is let through refuses it for its form.
  const body = method === 'GET' ? undefined : '{"no_such_field":1}'
  return fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
}

async function denied(): Promise<string[]> {
  const names: string[] = []
  for (const row of rows) {
    const response = await ask(row)
    if (response.status === 403) names.push(row.name)
    await response.arrayBuffer()
  }
  return names
}

/** By hand: what is in the table must not be what the table is held to. */
const OWNERS = [
  ...['create_wallet', 'create_key', 'rotate_key', 'patch_key', 'unfreeze', 'set_breakers'],
  ...['put_address_rule', 'delete_address_rule'],
  ...['invite_member', 'change_member', 'remove_member'],
]
const RUNNING = [
  ...['revoke_key', 'freeze', 'revoke_allowances', 'cancel_transaction', 'create_webhook'],
  ...['patch_webhook', 'test_webhook', 'rotate_webhook_secret', 'redeliver_event'],
  ...['delete_webhook'],
]
const DENIED: Readonly<Record<Role, readonly string[]>> = {
  owner: [],
  approver: [...OWNERS, ...RUNNING],
  operator: [...OWNERS, 'approve_call'],
  viewer: [...OWNERS, ...RUNNING, 'approve_call', 'decline_call'],
}

describe('a role', () => {
  test.each(ROLES)('%s: is denied what it may not, and nothing else', async (of) => {
    role = of
    expect((await denied()).sort()).toEqual([...DENIED[of]].sort())
  })

  test('viewer: changes nothing, by any operation that is no GET', async () => {
    role = 'viewer'
    const open = new Set(['backtest_key', 'test_policy'])
    // Their own place, and nobody else's.
    for (const own of ['leave_account', 'accept_invitation', 'decline_invitation']) open.add(own)
    const changing = rows.filter(({ method, name }) => method !== 'GET' && !open.has(name))
    expect((await denied()).sort()).toEqual(changing.map(({ name }) => name).sort())
  })

  test('is told the roles that would be enough, before the body is looked at', async () => {
    role = 'approver'
    const response = await ask({ method: 'POST', path: '/api/v1/agent/freeze' })
    expect(response.status).toBe(403)
    expect(await readError(response)).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: 'Your role in this account is approver; this needs owner or operator.',
      details: { role: 'approver', roles: ['owner', 'operator'] },
    })
  })

  test('is documented with each operation', () => {
    const { paths } = openApiDocument() as unknown as {
      paths: Record<string, Record<string, { description: string; responses: object }>>
    }
    for (const { name, method, path } of [...rows, eventStream]) {
      const operation = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
      const roles = ROLES.filter((one) => !DENIED[one].includes(name))
      const words = `Roles: ${roles.map((one) => `\`${one}\``).join(', ')}.`
      expect(operation?.description, name).toContain(words)
      expect(Object.keys(operation?.responses ?? {}), name).toContain('403')
    }
  })

  test('spends the rate of its person, not that of the account', async () => {
    role = 'viewer'
    const get = { method: 'GET', path: '/api/v1/agent/me' } as const
    let last = 200
    for (let i = 0; i < 61; i++) last = (await ask(get)).status
    expect(last).toBe(429)
    personId = 'user_who_freezes'
    expect((await ask(get)).status).toBe(200)
  })
})
