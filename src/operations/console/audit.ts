import { isoTime } from '../../domain/iso-time.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { pageOptions } from './page.js'

export function listAudit({ reader }: OperationPorts): ConsoleHandlers['list_audit'] {
  return ({ userId }, input) => {
    const { items, nextCursor } = reader.audit.ofUser(
      userId,
      pageOptions(input),
      (record) =>
        (input.sub_wallet_id === undefined || record.subWalletId === input.sub_wallet_id) &&
        (input.key_id === undefined || record.keyId === input.key_id) &&
        (input.type === undefined || record.type === input.type),
    )
    const records = items.map((record) => ({
      audit_id: record.auditId,
      at: isoTime(record.atMs),
      type: record.type,
      sub_wallet_id: record.subWalletId,
      key_id: record.keyId,
      request_id: record.requestId,
      tx_id: record.txId,
      details: { ...record.details, ...(record.lists === null ? {} : { lists: record.lists }) },
    }))
    return { ok: true, value: { records, next_cursor: nextCursor } }
  }
}
