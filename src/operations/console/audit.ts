import type { AuditRecord } from '../../domain/audit.js'
import type { TxId } from '../../domain/ids.js'
import { isoTime } from '../../domain/iso-time.js'
import type { ConsoleHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'
import { pageOptions } from './page.js'
import { describeRefusal } from './refusal-words.js'
import { entriesOf } from './transaction-traces.js'

export function listAudit({ reader }: OperationPorts): ConsoleHandlers['list_audit'] {
  return ({ userId }, input) => {
    const wanted = (record: AuditRecord) =>
      (input.sub_wallet_id === undefined || record.subWalletId === input.sub_wallet_id) &&
      (input.key_id === undefined || record.keyId === input.key_id) &&
      (input.type === undefined || record.type === input.type)
    if (input.tx_id !== undefined) {
      const found = entriesOf(reader, userId, input.tx_id as TxId).filter(wanted)
      return { ok: true, value: { records: found.map(auditView), next_cursor: null } }
    }
    const { items, nextCursor } = reader.audit.ofUser(
      userId,
      pageOptions(input),
      wanted,
      input.type,
    )
    return { ok: true, value: { records: items.map(auditView), next_cursor: nextCursor } }
  }
}

export function auditView(record: AuditRecord) {
  const { auditId, atMs, type, subWalletId, keyId, requestId, txId, details, lists } = record
  return {
    audit_id: auditId,
    at: isoTime(atMs),
    type,
    sub_wallet_id: subWalletId,
    key_id: keyId,
    request_id: requestId,
    tx_id: txId,
    message: type === 'send.refused' ? describeRefusal(details) : null,
    details: { ...details, ...(lists === null ? {} : { lists }) },
  }
}
