import { expect, test } from 'vitest'
import { createFreezesShell } from '../../actors/freezes/shell.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { ApiKey } from '../../src/domain/api-key.js'
import type { Freeze } from '../../src/domain/freeze.js'
import { createFreezeBook } from '../../src/domain/freeze-book.js'
import { type KeyId, type LineageId, ulidBytes } from '../../src/domain/ids.js'
import type { CoSigner, StoppedSubject } from '../../src/service-custody/co-signer.js'
import { isStopped } from '../../src/service-custody/freezes.js'
import type { PreparedIntent } from '../../src/service-custody/sign-batch.js'
import { openRealStore } from './real-store.js'
import { apiKey, START_MS } from './wallet-fixtures.js'

function keyOf(name: string, parentLineageId?: LineageId): ApiKey {
  const keyId = `key_${name.repeat(26)}` as KeyId
  const above = parentLineageId === undefined ? {} : { parentLineageId }
  return apiKey({
    ...{ keyId, lineageId: keyId as string as LineageId, secretHash: name.repeat(64) },
    ...above,
  })
}

/** What a call waits in line with; of it a freeze of a key asks no more. */
function intentOf({ lineageId }: ApiKey, proofKey: Uint8Array | null): PreparedIntent {
  const grant = { grantId: ulidBytes(lineageId), version: 1 }
  return { grant, proofKey, approval: null } as PreparedIntent
}

test('a frozen key takes along the calls in line of all keys below it, and no others', async () => {
  const store = await openRealStore()
  try {
    const maker = keyOf('1')
    const child = keyOf('2', maker.lineageId)
    const grandchild = keyOf('3', child.lineageId)
    const another = keyOf('4')
    const keys = [maker, child, grandchild, another]
    await store.write((writer) => {
      for (const key of keys) writer.putApiKey(key)
    })
    const stopped: StoppedSubject[] = []
    const coSigner: Pick<CoSigner, 'freeze' | 'unfreeze' | 'refuseWaiting'> = {
      freeze: () => Promise.reject(new Error('not asked')),
      unfreeze: () => Promise.reject(new Error('not asked')),
      refuseWaiting: (subject) => void stopped.push(subject),
    }
    const shell = createFreezesShell({
      ...{ reader: store.reader, coSigner, timers: systemTimers() },
      book: createFreezeBook([], () => null),
      changed: () => {},
      log: { warn: () => {} },
    })
    const { userId, subWalletId, lineageId, keyId } = child
    const freeze: Freeze = {
      scope: 'key',
      ...{ name: `key:${lineageId}`, userId, subWalletId, lineageId, keyId },
      ...{ sinceMs: START_MS, reason: null },
      by: 'user',
      custody: 'pending',
    }
    shell.run(userId, { type: 'stop', freeze, standing: new Map() }, () => {})
    const [subject] = stopped
    if (subject === undefined) throw new Error('nothing was stopped')
    const stops = isStopped(subject)
    const proof = new Uint8Array(32)
    expect(keys.map((key) => stops(intentOf(key, proof)))).toEqual([false, true, true, false])
    const replacements = keys.map((key) => stops(intentOf(key, null)))
    expect(replacements, 'what outbids a call that is out goes on').not.toContain(true)
  } finally {
    await store.close()
  }
})
