import type { RootDatabase } from 'lmdb'
import { viewOf } from '../../quorum-protocol/bytes.js'
import type { KeylessCount, KeylessLedger } from './keyless.js'
import { type UnflushedRows, unflushedRows } from './unflushed-rows.js'

interface KeylessRows {
  readonly writer: Pick<KeylessLedger, 'keyless' | 'putKeyless'>
  readonly rows: UnflushedRows<Buffer, KeylessCount>
}

/** @param root the ledger's environment: 21-keyless */
export function openKeylessRows(root: RootDatabase): KeylessRows {
  const plain = { encoder: { useRecords: false } }
  const stored = root.openDB<[day: number, count: number], Buffer>({
    name: '21-keyless',
    keyEncoding: 'binary',
    ...plain,
  })
  const rows = unflushedRows<Buffer, KeylessCount>(
    (walletId, { day, count }) => void stored.put(walletId, [day, count]),
  )
  return {
    rows,
    writer: {
      keyless(walletId) {
        const fresh = rows.get(viewOf(walletId))
        if (fresh !== undefined) return fresh
        const [day, count] = stored.get(viewOf(walletId)) ?? [0, 0]
        return { day, count }
      },
      putKeyless: (walletId, count) => rows.set(Buffer.from(walletId), count),
    },
  }
}
