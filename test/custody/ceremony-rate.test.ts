import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCeremonyRate } from '../../src/identity-provider/authorizers/ceremony-rate.js'
import { atOnce } from '../support/at-once.js'
import { type AuthorizerClient, connectAuthorizers } from './authorizer-client.js'
import {
  type Quorum,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
  USER,
  WEBAUTHN,
} from './harness.js'

const FLOOD = 400
const SIGNATURES = 40
/** Fewer than the identity provider has places for one address. */
const AT_ONCE = 24
const BURST = 120

describe('requests about authorizers', () => {
  let quorum: Quorum
  let client: AuthorizerClient
  beforeAll(async () => {
    quorum = await startQuorum()
    const origin = WEBAUTHN.origins[0] ?? ''
    client = await connectAuthorizers(quorum.home, USER, { rpId: WEBAUTHN.rp_id, origin })
  })
  afterAll(() => quorum?.close())

  test('beyond a user’s rate are refused, while signatures go on', async () => {
    const wallet = await readyWallet(quorum)
    const flood = atOnce(FLOOD, AT_ONCE, () => client.call('list'))
    for (let nonce = 0; nonce < SIGNATURES; nonce++) {
      await signed(quorum, requestOf(wallet, transfer(nonce)))
    }
    const statuses = (await flood).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(BURST)
  })
})

describe('the rate of requests about authorizers', () => {
  const isTaken = (admit: (user: string) => void, user: string) => {
    try {
      admit(user)
      return true
    } catch {
      return false
    }
  }

  test('of one user leaves that of another as it is', () => {
    const admit = createCeremonyRate(() => 0)
    const flood = Array.from({ length: 1_000 }, () => isTaken(admit, 'flooder'))
    expect(flood.filter(Boolean)).toHaveLength(BURST)
    expect(isTaken(admit, 'other')).toBe(true)
  })

  test('has a bound for all users together', () => {
    const admit = createCeremonyRate(() => 0)
    const each = Array.from({ length: 1_000 }, (_, n) => isTaken(admit, `user ${n}`))
    expect(each.filter(Boolean)).toHaveLength(400)
  })
})
