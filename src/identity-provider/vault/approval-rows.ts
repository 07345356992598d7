import type { RootDatabase } from 'lmdb'
import { readApprovalTerm } from '../../custody/approvals/approval-term.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import { type PutRows, unflushedRows } from './unflushed-rows.js'

/** A call that waits for people or for its time, as the user side was told of it. */
export interface ApprovalRow {
  /** Canonical bytes of the term. */
  readonly term: Uint8Array
  readonly userId: string
  /** By the clock here: when it was told of this call first. A delay counts from then. */
  readonly askedAtMs: number
  /** What the service says that its rules ask for; the policy's static part is judged besides. */
  readonly needed: number
  readonly delaySeconds: number
  /** The service's words, for people. */
  readonly rule: string
  readonly spendUsd: string
  /** Null: it has no name for the payee. */
  readonly payeeLabel: string | null
  /** Why people are asked once more; null: they are not. */
  readonly askedAgain: string | null
  readonly approvals: readonly GivenApproval[]
  /** Null of one that may be approved and signed, or was. */
  readonly ended: EndedApproval | null
}

export interface GivenApproval {
  /** 16 bytes; empty: dev's software authorizer. */
  readonly authorizerId: Uint8Array
  /** Encoded, verified when it was taken. */
  readonly proof: Uint8Array
  readonly atMs: number
}

export interface EndedApproval {
  readonly as: ApprovalEnd
  readonly atMs: number
  /** Of a person who declined it at this domain's page. */
  readonly comment: string | null
}

export const APPROVAL_ENDS = ['declined', 'withdrawn', 'expired', 'dropped'] as const
export type ApprovalEnd = (typeof APPROVAL_ENDS)[number]

/** What a person decided at a page here, for the service to learn. */
export interface ApprovalDecision {
  /** 16 bytes. */
  readonly approvalId: Uint8Array
  /** 16 bytes of the sub-wallet's id. */
  readonly walletId: Uint8Array
  readonly userId: string
  readonly decision: 'approve' | 'decline'
  /** 16 bytes; empty where a sign-in was enough. */
  readonly authorizerId: Uint8Array
  readonly atMs: number
  readonly comment: string | null
  /** Encoded; empty of one that declines. */
  readonly proof: Uint8Array
}

/** What is kept of approvals, beside the rest of the ledger (`ledger-store.ts`). */
export interface ApprovalReader {
  approval(id: Uint8Array): ApprovalRow | null
  /** Calldata, or the encoded Router intent. */
  approvalCall(id: Uint8Array): Uint8Array | null
  /** Where an approval was used (`placeOf`); null: nowhere. */
  approvalUse(id: Uint8Array): Uint8Array | null
  /** Those of a user, and of all, that are neither used nor ended nor expired. */
  openApprovals(userId: string, nowMs: number): { readonly ofUser: number; readonly all: number }
  /** After a number, oldest first. */
  decisionsAfter(number: number, countMax: number): readonly [number, ApprovalDecision][]
}

export interface ApprovalWriter {
  putApproval(id: Uint8Array, row: ApprovalRow): void
  putApprovalCall(id: Uint8Array, call: Uint8Array): void
  putApprovalUse(id: Uint8Array, place: Uint8Array): void
  putDecision(decision: ApprovalDecision): void
}

/**
 * Kept so long after its expiry, so that people find what they decided; longer than an id may be
 * asked for anew (`ID_AGE_MS_MAX`), so that no use of one is forgotten while it could be used again.
 */
const KEPT_MS = 30 * 86_400_000
/** Looked at for what may go, whenever one comes: more than come. */
const DROPPED_PER_ROW = 8
/** The newest decisions are kept: the service fetches them within seconds. */
const DECISIONS_MAX = 65_536

interface Open {
  readonly userId: string
  readonly expiresAtMs: number
}

/** @param root of the ledger */
export function openApprovalRows(root: RootDatabase) {
  const plain = { encoder: { useRecords: false } }
  const binaryKey = { keyEncoding: 'binary' } as const
  const rows = root.openDB<ApprovalRow, Buffer>({ name: '11-approvals', ...binaryKey, ...plain })
  const calls = root.openDB<Buffer, Buffer>({
    name: '12-approval-calls',
    ...binaryKey,
    encoding: 'binary',
  })
  const uses = root.openDB<Buffer, Buffer>({
    name: '13-approval-uses',
    ...binaryKey,
    encoding: 'binary',
  })
  const decisions = root.openDB<ApprovalDecision, number>({ name: '14-decisions', ...plain })

  const open = new Map<string, Open>()
  const openByUser = new Map<string, number>()

  function note(id: Uint8Array, { term, userId, ended }: ApprovalRow): void {
    forget(nameOf(id))
    if (ended !== null || reader.approvalUse(id) !== null) return
    open.set(nameOf(id), { userId, expiresAtMs: expiryOf(term) })
    openByUser.set(userId, (openByUser.get(userId) ?? 0) + 1)
  }

  function forget(name: string): void {
    const known = open.get(name)
    if (known === undefined) return
    open.delete(name)
    const left = (openByUser.get(known.userId) ?? 1) - 1
    if (left > 0) openByUser.set(known.userId, left)
    else openByUser.delete(known.userId)
  }

  let lastDecision = 0
  for (const number of decisions.getKeys({ reverse: true, limit: 1 })) lastDecision = number

  const rowRows = unflushedRows<Buffer, ApprovalRow>((id, row) => void rows.put(id, row))
  const callRows = unflushedRows<Buffer, Buffer>((id, call) => void calls.put(id, call))
  const useRows = unflushedRows<Buffer, Buffer>((id, place) => void uses.put(id, place))
  const decisionRows = unflushedRows<number, ApprovalDecision>((number, decision) => {
    void decisions.put(number, decision)
    void decisions.remove(number - DECISIONS_MAX)
  })

  /** Ids begin with their time, so that the oldest are in front. */
  function dropOld(atMs: number): void {
    for (const { key, value } of rows.getRange({ limit: DROPPED_PER_ROW })) {
      if (expiryOf(value.term) + KEPT_MS > atMs) return
      for (const database of [rows, calls, uses]) void database.remove(key)
    }
  }

  const reader: ApprovalReader = {
    approval: (id) => rowRows.get(viewOf(id)) ?? rows.get(viewOf(id)) ?? null,
    approvalCall: (id) => callRows.get(viewOf(id)) ?? calls.get(viewOf(id)) ?? null,
    approvalUse: (id) => useRows.get(viewOf(id)) ?? uses.get(viewOf(id)) ?? null,
    openApprovals(userId, atMs) {
      for (const [name, { expiresAtMs }] of open) if (expiresAtMs <= atMs) forget(name)
      return { ofUser: openByUser.get(userId) ?? 0, all: open.size }
    },
    decisionsAfter(number, countMax) {
      const found: [number, ApprovalDecision][] = []
      // A number of before this ledger was restored is none of its own.
      const after = number > lastDecision ? 0 : number
      for (let next = Math.max(after, lastDecision - DECISIONS_MAX) + 1; ; next++) {
        if (next > lastDecision || found.length === countMax) return found
        const decision = decisionRows.get(next) ?? decisions.get(next)
        if (decision !== undefined) found.push([next, decision])
      }
    },
  }
  for (const { key, value } of rows.getRange()) note(key, value)
  const writer: ApprovalWriter = {
    putApproval(id, row) {
      dropOld(row.askedAtMs)
      note(id, row)
      rowRows.set(Buffer.from(id), row)
    },
    putApprovalCall: (id, call) => callRows.set(Buffer.from(id), Buffer.from(call)),
    putApprovalUse(id, place) {
      useRows.set(Buffer.from(id), Buffer.from(place))
      forget(nameOf(id))
    },
    putDecision: (decision) => decisionRows.set(++lastDecision, decision),
  }
  const all = [rowRows, callRows, useRows, decisionRows]
  return { reader, writer, put: (): PutRows[] => all.map((one) => one.put()) }
}

function expiryOf(term: Uint8Array): number {
  return readApprovalTerm(term).statement.expiresAtMs
}

function nameOf(id: Uint8Array): string {
  return viewOf(id).toString('latin1')
}
