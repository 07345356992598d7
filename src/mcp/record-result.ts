import { keepJson, keptJson } from '../api/json-text.js'
import type { OperationRow } from '../api/operation-row.js'
import { type TransactionView, transactionRecord } from '../api/transaction.js'
import { isSponsored } from '../domain/sponsorship.js'
import type { Answer } from '../operations/context.js'

/**
 * Shortens the record of a sponsored call for tools. The service wrote the calldata and signed it
 * for the Router, so no agent acts on it, and it was two thirds of what a model paid to read. Spec
 * silent: `data` is cut to the selector; REST, events and lists have all of it.
 */

const SELECTOR_CHARS = '0x'.length + 2 * 4

/** Caches shortened records by record, so that their texts are cached too. */
const shown = new WeakMap<object, TransactionView>()

export function withSelectorAlone(row: OperationRow, answer: Answer<unknown>): Answer<unknown> {
  // The calldata of a plain send belongs to the caller.
  if (!answer.ok || row.output !== transactionRecord || row.gas === 'agent') return answer
  const record = answer.value as TransactionView
  if (!isSponsored(record.kind) || record.data.length <= SELECTOR_CHARS) return answer
  const { json: _whole, ...others } = answer
  return { ...others, value: recordShown(record) }
}

function recordShown(record: TransactionView): TransactionView {
  const known = shown.get(record)
  if (known !== undefined) return known
  const cut = { ...record, data: record.data.slice(0, SELECTOR_CHARS) }
  if (keptJson(record) !== undefined) shown.set(record, keepJson(cut))
  return cut
}
