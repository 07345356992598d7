import { jsonText } from '../api/json-text.js'
import type { Answer } from '../operations/context.js'
import type { Exchange } from './exchange.js'
import type { Header } from './reply.js'

const REPLAYED: readonly Header[] = [['Idempotency-Replayed', 'true']]

/**
 * Calls an operation and sends its answer. A synchronous operation costs no promise; if one throws,
 * nothing of the error leaves the process.
 */
export function runOperation(
  exchange: Exchange,
  call: () => Answer<unknown> | Promise<Answer<unknown>>,
): void {
  let pending: Answer<unknown> | Promise<Answer<unknown>>
  try {
    pending = call()
  } catch (error) {
    exchange.fail(error)
    return
  }
  if (!('then' in pending)) {
    sendAnswer(exchange, pending)
    return
  }
  exchange.detach()
  void pending.then(
    (answer) => sendAnswer(exchange, answer),
    (error: unknown) => exchange.fail(error),
  )
}

function sendAnswer(exchange: Exchange, answer: Answer<unknown>): void {
  if (!answer.ok) {
    exchange.refuse(answer.fault)
    return
  }
  let body: string
  try {
    body = answer.json ?? jsonText(answer.value)
  } catch (error) {
    exchange.fail(error)
    return
  }
  const status = answer.status ?? 200
  exchange.send(answer.replayed === true ? { status, body, headers: REPLAYED } : { status, body })
}
