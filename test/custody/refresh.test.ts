import { statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { readPrivateFile } from '../../src/custody/domain-keys/private-file.js'
import { openShareStore } from '../../src/custody/domain-keys/share-store.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { addInto, addressOf, pointOf } from '../../src/quorum-protocol/curve.js'
import { countersign, countersignOk, killedWhen } from './command.js'
import {
  newWalletId,
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

let quorum: Quorum
let wallet: ReadyWallet
let nonce = 0

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
})
afterAll(() => quorum?.close())

const READY_MS = 60_000
const refreshing = ['custody', 'refresh-shares']
const sign = () => signed(quorum, requestOf(wallet, transfer(nonce++)))

interface Shares {
  readonly epoch: number
  readonly user: Buffer
  readonly service: Buffer
}

/** Both sides' shares as they are on disk. */
async function sharesNow(): Promise<Shares & { readonly userEpoch: number }> {
  const read = async (domain: 'user' | 'service') => {
    const layout = domain === 'user' ? userSideLayout(quorum.home) : serviceLayout(quorum.home)
    const store = openShareStore(domain, layout, [readPrivateFile(layout.wrappingKey)])
    try {
      const record = store.get(ulidBytes(wallet.walletId))
      if (record === null) throw new Error('no share')
      return { epoch: record.certificate.epoch, share: store.openShare(record) }
    } finally {
      await store.close()
    }
  }
  const [user, service] = [await read('user'), await read('service')]
  return { epoch: service.epoch, userEpoch: user.epoch, user: user.share, service: service.share }
}

function addressFrom(user: Buffer, service: Buffer): string {
  const key = Buffer.from(user)
  addInto(key, service)
  return `0x${addressOf(pointOf(key)).toString('hex')}`
}

/**
 * Holds from the given write on to shares or evidence of either side: a refresh makes a good dozen,
 * within some 100 ms.
 */
function afterWrites(count: number): () => boolean {
  const sides = [userSideLayout(quorum.home), serviceLayout(quorum.home)]
  const files = sides
    .flatMap(({ shares, sharesCopy, evidence }) => [shares, sharesCopy, evidence])
    .map((directory) => join(directory, 'data.mdb'))
  const writtenAt = () => files.map((path) => statSync(path, { bigint: true }).mtimeNs)
  let last = writtenAt()
  let writes = 0
  return () => {
    const now = writtenAt()
    writes += now.filter((at, index) => at !== last[index]).length
    last = now
    return writes >= count
  }
}

/** A signature, and then both sides have the same epoch. */
async function signedByOnePair(): Promise<boolean> {
  await sign()
  const { epoch, userEpoch } = await sharesNow()
  return epoch === userEpoch
}

describe('refreshed shares', () => {
  test('make the same key, and none with a share from before', async () => {
    const address = wallet.address.toLowerCase()
    const before = await sharesNow()
    await sign()
    await countersignOk(quorum.home, [...refreshing, wallet.walletId])
    const after = await sharesNow()
    expect([after.epoch, after.userEpoch]).toEqual([before.epoch + 1, before.epoch + 1])
    expect(addressFrom(after.user, after.service)).toBe(address)
    expect(addressFrom(before.user, after.service)).not.toBe(address)
    expect(addressFrom(after.user, before.service)).not.toBe(address)
    // The service was at work meanwhile, with the old share at hand.
    await sign()
  })

  test('are certified by both sides in both logs', async () => {
    const output = await countersignOk(quorum.home, ['verify-audit'])
    expect(output).toContain('✓ both logs are whole and agree')
  })

  test('are the old pair or the new one after a kill of the command at any point', async () => {
    const wanted = (await sharesNow()).epoch + 3
    for (const writes of [1, 4, 7, 10, 13]) {
      const epoch = (await sharesNow()).epoch
      await killedWhen(quorum.home, [...refreshing, wallet.walletId], afterWrites(writes))
      // What it had asked the identity provider for may come about after its end.
      await expect.poll(signedByOnePair).toBe(true)
      const now = await sharesNow()
      expect(now.epoch - epoch).toBeLessThanOrEqual(1)
      expect(addressFrom(now.user, now.service)).toBe(wallet.address.toLowerCase())
    }
    while ((await sharesNow()).epoch < wanted) {
      await countersignOk(quorum.home, [...refreshing, wallet.walletId])
    }
    await sign()
  })

  test('are the old pair or the new one after a kill of the identity provider', async () => {
    const isTime = afterWrites(3)
    const running = countersign(quorum.home, refreshing)
    await expect.poll(isTime, { timeout: READY_MS, interval: 1 }).toBe(true)
    await quorum.identityProvider.kill()
    await running
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    await sign()
    const now = await sharesNow()
    expect(now.epoch).toBe(now.userEpoch)
  })

  test('come of every wallet that has its key, gas wallets too', async () => {
    await quorum.coSigner.createServiceWallet(newWalletId())
    const output = await countersignOk(quorum.home, [...refreshing, '--json'])
    expect(JSON.parse(output)).toEqual({ refreshed: 2 })
    await sign()
  })

  test('of an unknown wallet, or with the quorum down: an error, and nothing changes', async () => {
    const before = await sharesNow()
    const unknown = await countersign(quorum.home, [...refreshing, newWalletId()])
    expect(unknown.code).toBe(1)
    expect(unknown.stderr).toContain('UNKNOWN_WALLET')
    await quorum.quorumSigner.kill()
    const down = await countersign(quorum.home, refreshing)
    expect(down.code).toBe(1)
    expect(down.stderr).toContain('does not answer')
    quorum.quorumSigner = await quorum.startQuorumSigner()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    expect((await sharesNow()).epoch).toBe(before.epoch)
  })
})
