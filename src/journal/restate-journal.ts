import { randomUUID } from 'node:crypto'
import {
  type Acquisition,
  type Appended,
  checkBody,
  checkClaim,
  type Entry,
  type Journal,
  type JournalHead,
  JournalMisuse,
  JournalOvertaken,
  JournalTrimmed,
  JournalUnavailable,
} from './journal.js'
import { type Message, openReply, SealBroken } from './restate-frames.js'
import { type Asking, createIngresses } from './restate-ingresses.js'
import type { AcquireOutcome, ReadOrNot } from './restate-object.js'
import {
  type EntryAbout,
  NAMED,
  partitionKey,
  type Request,
  sealedRequest,
} from './restate-requests.js'
import { restateSnapshots } from './restate-snapshots.js'

/** Attempts of a read during which entries are trimmed. */
const READS_MAX = 5

type Misuse = { readonly kind: 'misuse'; readonly message: string }

/**
 * Any partition will do: the request only shows whether a handler answers, not whether the
 * partition exists.
 */
const ASKED_FIRST = 0

/**
 * The journal in a Restate cluster, as durable as what that acknowledges: with replication 2, on
 * two machines.
 * @param urls the ingresses of all nodes
 * @param key seals requests and replies; the cluster's handlers have the same
 * @throws JournalUnavailable if no handler answers, or none with this key
 */
export async function openRestateJournal(
  urls: readonly string[],
  key: Uint8Array,
): Promise<Journal> {
  const journal = createRestateJournal(key, createIngresses(urls))
  try {
    await journal.readHead(ASKED_FIRST)
    return journal
  } catch (error) {
    await journal.close()
    throw error
  }
}

/** The journal as client of `restate-object.ts`, which runs in a cluster. */
export function createRestateJournal(key: Uint8Array, asking: Asking): Journal {
  /** @param object its key */
  async function askOf(object: string, request: Request, body?: Uint8Array): Promise<Message> {
    const { bytes, name } = sealedRequest(key, object, request, body)
    const { operation } = request
    const question = { operation, key: object, bytes, name: NAMED.has(operation) ? name : null }
    const message = await asking.ask(question, (answer) => opened(key, bytes, answer))
    const said = message.json as Misuse | { readonly kind?: undefined }
    if (said.kind === 'misuse') throw new JournalMisuse(said.message)
    return message
  }

  const ask = (partition: number, request: Request, body?: Uint8Array) =>
    askOf(partitionKey(partition), request, body)

  return {
    async acquire(partition, node, claim, after) {
      checkClaim(claim)
      const request: Request = { operation: 'take', node, claim, after: after ?? null }
      const outcome = (await ask(partition, request)).json as AcquireOutcome
      if (outcome.kind === 'overtaken') {
        throw new JournalOvertaken(partition, after ?? 0, outcome.epoch)
      }
      const { epoch, seq, first } = outcome
      return { epoch, seq, first } satisfies Acquisition
    },

    async readHead(partition) {
      const request: Request = { operation: 'look', nonce: randomUUID() }
      return (await ask(partition, request)).json as JournalHead
    },

    async heartbeat(partition, epoch, stored, state) {
      await ask(partition, { operation: 'beat', nonce: randomUUID(), epoch, stored, state })
    },

    async append({ partition, epoch, seq }, body) {
      checkBody(body)
      const answered = await ask(partition, { operation: 'append', epoch, seq }, body)
      return answered.json as Appended
    },

    async read(partition, afterSeq, bytesMax) {
      for (let reads = 0; reads < READS_MAX; reads++) {
        const request: Request = { operation: 'read', nonce: randomUUID(), afterSeq, bytesMax }
        const { json, bytes } = await ask(partition, request)
        const answered = json as
          | Exclude<ReadOrNot, { kind: 'read' }>
          | { readonly kind: 'read'; readonly entries: readonly EntryAbout[] }
        if (answered.kind === 'read') return entriesOf(answered.entries, bytes)
        if (answered.kind === 'trimmed') {
          throw new JournalTrimmed(partition, afterSeq, answered.first)
        }
      }
      throw new JournalUnavailable('the journal is trimmed while it is read')
    },

    async trim(partition, belowSeq) {
      for (;;) {
        const request: Request = { operation: 'trim', nonce: randomUUID(), belowSeq }
        const { isMore } = (await ask(partition, request)).json as { readonly isMore: boolean }
        if (!isMore) return
      }
    },

    snapshots: restateSnapshots(askOf),

    close: () => asking.close(),
  }
}

/** An answer without the key says nothing about the journal. */
function opened(key: Uint8Array, request: Uint8Array, answer: Uint8Array): Message {
  try {
    return openReply(key, request, answer)
  } catch (cause) {
    if (!(cause instanceof SealBroken)) throw cause
    throw new JournalUnavailable('the handler that answered does not have the key of the journal', {
      cause,
    })
  }
}

function entriesOf(entries: readonly EntryAbout[], bytes: Uint8Array): readonly Entry[] {
  let from = 0
  return entries.map(({ seq, epoch, bytes: length }) => {
    const body = bytes.subarray(from, from + length)
    from += length
    return { seq, epoch, body }
  })
}
