import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createUser } from '../../src/identity-provider/login/create-user.js'
import { type Stack, startStack } from '../e2e/stack.js'
import type { HttpClient, ReplyBody } from '../support/http-client.js'

/** Keys and wallets by their names, as their owner asks for them. */

let stack: Stack
let owner: HttpClient
let stranger: HttpClient
const ids = new Map<string, string>()

beforeAll(async () => {
  stack = await startStack()
  owner = stack.owner
  const user = { email: 'stranger@example.test', password: randomBytes(12).toString('hex') }
  await createUser(join(stack.service.home, 'identity-provider'), user.email, user.password)
  stranger = stack.service.console(await stack.service.token(user))
  for (const name of ['Payroll Bot', 'PAYROLL eu', 'Rebalancer']) {
    const made = await owner.post('/keys', {
      ...{ name, sub_wallet_id: stack.service.dev().sub_wallet_id },
      ...{ permission: 'read', daily_limit_usd: '10', monthly_limit_usd: '100' },
    })
    expect(made.status, made.text).toBe(201)
    ids.set(name, String(made.json.key_id))
  }
})
afterAll(() => stack?.service.stop())

const named = (body: ReplyBody, list = 'keys') =>
  (body[list] as readonly Readonly<Record<string, unknown>>[]).map(({ name }) => name)

async function found(path: string, list = 'keys'): Promise<readonly unknown[]> {
  const answer = await owner.get(path)
  expect(answer.status, answer.text).toBe(200)
  return named(answer.json, list)
}

describe('keys are found', () => {
  test('by how words of their names begin, newest first, and their spend in the same pages', async () => {
    for (const path of ['/keys', '/spend']) {
      expect(await found(`${path}?search=pay`)).toEqual(['PAYROLL eu', 'Payroll Bot'])
      expect(await found(`${path}?search=bot%20payroll`)).toEqual(['Payroll Bot'])
      expect(await found(`${path}?search=roll`)).toEqual([])
      const first = await owner.get(`${path}?search=pay&limit=1`)
      expect(named(first.json)).toEqual(['PAYROLL eu'])
      const rest = `${path}?search=pay&limit=1&cursor=${first.json.next_cursor}`
      expect(await found(rest)).toEqual(['Payroll Bot'])
      expect((await owner.get(rest)).json.next_cursor).toBeNull()
    }
  })

  test('by the name that they have by now', async () => {
    const path = `/keys/${ids.get('Rebalancer')}`
    const patched = await owner.call('PATCH', path, { body: { name: 'Treasury mover' } })
    expect(patched.status, patched.text).toBe(200)
    expect(await found('/keys?search=mov')).toEqual(['Treasury mover'])
    expect(await found('/keys?search=rebalancer')).toEqual([])
  })

  test('with their successors, once they are rotated', async () => {
    const rotated = await owner.post(`/keys/${ids.get('PAYROLL eu')}/rotate`)
    expect(rotated.status, rotated.text).toBe(200)
    const answer = await owner.get('/keys?search=eu')
    expect(answer.json.keys?.map(({ key_id }) => key_id)).toEqual([
      rotated.json.key_id,
      ids.get('PAYROLL eu'),
    ])
  })

  test('by nobody else', async () => {
    for (const [path, list] of [
      ['/keys', 'keys'],
      ['/spend', 'keys'],
      ['/wallets', 'wallets'],
    ] as const) {
      const answer = await stranger.get(`${path}?search=pay`)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.json[list]).toEqual([])
    }
  })
})

test('wallets are found in the same way', async () => {
  for (const name of ['Cold store', 'Cold reserve']) {
    const made = await owner.post('/wallets', { name })
    expect(made.status, made.text).toBe(201)
  }
  expect(await found('/wallets?search=COLD', 'wallets')).toEqual(['Cold reserve', 'Cold store'])
  expect(await found('/wallets?search=store', 'wallets')).toEqual(['Cold store'])
})

test.each(['', 'x'.repeat(101)])('a search of %j is refused', async (search) => {
  for (const path of ['/keys', '/wallets', '/spend']) {
    const answer = await owner.get(`${path}?search=${search}`)
    expect(answer, path).toMatchObject({ status: 400, code: 'INVALID_REQUEST' })
  }
})
