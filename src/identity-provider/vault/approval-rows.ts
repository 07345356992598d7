import type { RootDatabase } from 'lmdb'
import { readApprovalTerm } from '../../custody/approvals/approval-term.js'
import { viewOf } from '../../quorum-protocol/bytes.js'
import type { ApprovalEnd } from '../../quorum-protocol/methods/approvals.js'
import { type PutRows, unflushedRows } from './unflushed-rows.js'

/** A call that waits for people or for its delay, as the service reported it. */
export interface ApprovalRow {
  /** The canonical bytes of the term. */
  readonly term: Uint8Array
  readonly userId: string
  /** When the service first reported this call, by this domain's clock. The delay starts here. */
  readonly askedAtMs: number
  /**
   * How many approvals the service's rules require. The policy's static part is judged separately.
   */
  readonly needed: number
  readonly delaySeconds: number
  /** The rule's name from the service, for people. */
  readonly rule: string
  readonly spendUsd: string
  /** Null when the service has no name for the beneficiary. */
  readonly payeeLabel: string | null
  /** Why people are asked again; null when this is the first time. */
  readonly askedAgain: string | null
  /**
   * The service's names of the parties, for people; absent when an older service reported the call.
   */
  readonly names?: ServiceNames | null
  readonly approvals: readonly GivenApproval[]
  /** Null while the call may be approved and signed, and after it was signed. */
  readonly ended: EndedApproval | null
}

interface ServiceNames {
  /** The API key's name. */
  readonly agent: string | null
  readonly wallet: string | null
  /** The tokens that the call moves, as the service's configuration names them. */
  readonly tokens: readonly NamedToken[]
}

interface NamedToken {
  /** The address in lower case. */
  readonly address: string
  readonly symbol: string
  readonly decimals: number
}

export interface GivenApproval {
  /** 16 bytes; empty for dev's software authorizer. */
  readonly authorizerId: Uint8Array
  /** The encoded proof, verified when it arrived. */
  readonly proof: Uint8Array
  readonly atMs: number
}

interface EndedApproval {
  readonly as: ApprovalEnd
  readonly atMs: number
  /** The comment of a person who declined the call at this domain's page. */
  readonly comment: string | null
}

/** A person's decision at a page of this domain, which the service fetches. */
export interface ApprovalDecision {
  /** 16 bytes. */
  readonly approvalId: Uint8Array
  /** 16 bytes of the sub-wallet's id. */
  readonly walletId: Uint8Array
  readonly userId: string
  readonly decision: 'approve' | 'decline'
  /** 16 bytes; empty when a sign-in was enough. */
  readonly authorizerId: Uint8Array
  readonly atMs: number
  readonly comment: string | null
  /** The encoded proof; empty when the person declined. */
  readonly proof: Uint8Array
}

/** The ledger's data about approvals (`ledger-store.ts`). */
export interface ApprovalReader {
  approval(id: Uint8Array): ApprovalRow | null
  /** The calldata, or the encoded Router intent. */
  approvalCall(id: Uint8Array): Uint8Array | null
  /** Returns where an approval was used (`placeOf`); null when it was not. */
  approvalUse(id: Uint8Array): Uint8Array | null
  /** Counts a user's approvals, and all users', that are not used, ended or expired. */
  openApprovals(userId: string, nowMs: number): { readonly ofUser: number; readonly all: number }
  /** Returns the decisions after a number, oldest first. */
  decisionsAfter(number: number, countMax: number): readonly [number, ApprovalDecision][]
}

export interface ApprovalWriter {
  putApproval(id: Uint8Array, row: ApprovalRow): void
  putApprovalCall(id: Uint8Array, call: Uint8Array): void
  putApprovalUse(id: Uint8Array, place: Uint8Array): void
  putDecision(decision: ApprovalDecision): void
}

/**
 * How long an approval is kept after its expiry, so that people find what they decided. It is
 * longer than an id may be registered again (`ID_AGE_MS_MAX`), so that a use is never forgotten
 * while the id could be used again.
 */
const KEPT_MS = 30 * 86_400_000
/** How many old rows are checked for removal with each new row: more than arrive. */
const DROPPED_PER_ROW = 8
/** Only the newest decisions are kept, because the service fetches them within seconds. */
const DECISIONS_MAX = 65_536

interface Open {
  readonly userId: string
  readonly expiresAtMs: number
}

/** @param root the ledger's environment */
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

  /** Ids begin with their time, so the oldest rows come first. */
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
      // A number from before this ledger was restored does not belong to it.
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
