import { CATALOGUE, type ErrorCode } from '../../src/errors/catalogue.js'
import { seededRandom } from '../faults/random.js'
import { type Credentials, type MalformedRequest, malformedRequest } from './malformed-requests.js'
import { RawConnection, type RawReply } from './raw-connection.js'

/** Sends malformed requests, and judges what comes back. */

const CONNECTIONS = 8
/** A broken head may leave the parser waiting for its rest: the next request must not be taken for it. */
const HEAD_GRACE_MS = 25
const WRONG_MAX = 20
/** Of the JavaScript engine, the file system, or this project's own sources. */
const LEAK = /node_modules|\.js:\d|at \w+ \(|ENOENT|zod|Error:/i
/** What a healthy service answers that has too much to do; its other 5xx say that a part is down. */
const EXPECTED_5XX: ReadonlySet<string> = new Set<ErrorCode>(['OVERLOADED'])

export interface MalformedRun {
  readonly port: number
  readonly requests: number
  readonly seed: number
  readonly credentials: readonly Credentials[]
}

/** @returns what was wrong, up to a bound */
export async function runMalformed(run: MalformedRun): Promise<readonly string[]> {
  const { port, requests, seed, credentials } = run
  const wrong: string[] = []
  let sent = 0
  const worker = async (index: number) => {
    const random = seededRandom(seed * 1_000 + index)
    let connection = new RawConnection(port, index)
    while (sent < requests && wrong.length < WRONG_MAX) {
      const id = sent++
      const request = malformedRequest(random, id, random.pick(credentials))
      if (request.kind === 'head') {
        connection.close()
        connection = new RawConnection(port, id)
        await Promise.race([
          connection.ask(request.bytes, false),
          new Promise((resolve) => setTimeout(resolve, HEAD_GRACE_MS)),
        ])
        connection.close()
        connection = new RawConnection(port, id)
        continue
      }
      const replies = await connection.ask(request.bytes, request.isHead)
      const fault = judge(request, replies)
      if (fault !== null) {
        wrong.push(`${id} ${request.kind}: ${fault}\n${request.bytes.toString().slice(0, 400)}`)
      }
      if (request.hidesAnother) connection.close()
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => worker(index)))
  return wrong
}

/** @returns what is wrong with it, or null */
function judge(request: MalformedRequest, replies: readonly RawReply[]): string | null {
  const hidden = replies.find(({ head }) => /x-request-id: inner-/i.test(head))
  if (request.hidesAnother && hidden !== undefined) return 'what it hides was answered'
  const [reply] = replies
  if (reply === undefined) return request.mayBeDropped ? null : 'not answered'
  if (Number.isNaN(reply.status)) return 'answered with no status'
  if (reply.status < 400 || reply.body === '') return null
  if (LEAK.test(reply.body)) return `leaks: ${reply.body.slice(0, 200)}`
  const code = codeOf(reply.body)
  if (code === null) return `no error body: ${reply.status} ${reply.body.slice(0, 200)}`
  if (CATALOGUE[code].status !== reply.status) return `${code} with ${reply.status}`
  if (reply.status >= 500 && !EXPECTED_5XX.has(code)) return `${reply.status} ${code}`
  return null
}

/** Null unless the body is an error as the API has it; MCP's own errors are JSON-RPC. */
function codeOf(body: string): ErrorCode | null {
  try {
    const { error } = JSON.parse(body)
    const whole = typeof error.message === 'string' && typeof error.details === 'object'
    return whole && error.code in CATALOGUE ? error.code : null
  } catch {
    return null
  }
}
