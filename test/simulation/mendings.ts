/**
 * What mends a fault that the service once had, and the world in which it is found again when the
 * mending is taken out: `npm run simulate -- --seed 27 --without '…'`.
 */
export interface Mending extends Mended {
  /** What was wrong. */
  readonly fault: string
  /** Who found it first. */
  readonly foundBy: 'simulator' | 'review'
  readonly seed: number
  /** Of two that each mend it, the other: nothing shows while one of them is there. */
  readonly also?: Mended
}

interface Mended {
  readonly file: string
  /** There once. */
  readonly mending: string
  /** Absent: nothing. */
  readonly before?: string
}

/** Oldest first. */
export const MENDINGS: readonly Mending[] = [
  {
    fault: 'a swap that was refused is executed by the next start',
    foundBy: 'review',
    seed: 3,
    file: 'actors/sub-wallet/record-sponsored.ts',
    mending:
      "writer.deleteSponsorship(subWalletId, event.txId)\n      if (event.tx !== null) {\n        writer.putTransaction(event.tx)\n        writer.appendEvent(txEvent(event.tx, 'transaction.dropped'",
    before:
      "if (event.tx !== null) {\n        writer.putTransaction(event.tx)\n        writer.appendEvent(txEvent(event.tx, 'transaction.dropped'",
  },
  {
    fault: "a gateway's 503 is taken for proof that no node has the bytes",
    foundBy: 'review',
    seed: 5544,
    file: 'src/chains/rpc/sends.ts',
    mending: "return cause.phase === 'unsent' || cause.status === 429",
    before: "return cause.phase === 'unsent' || cause.status !== undefined",
  },
  {
    fault: 'a nonce is called lost by a node that has our own bytes in its block',
    foundBy: 'review',
    seed: 442,
    file: 'actors/account/effects/who-used-the-nonce.ts',
    mending: 'if (views.some(([, , ...receipts]) => receipts.some((receipt) => receipt !== null)))',
    before: 'if (views.some(() => false))',
    also: {
      file: 'actors/account/effects/who-used-the-nonce.ts',
      mending: 'if (contents.some((hashes) => hashes?.some((hash) => ours.has(hash))))',
      before: 'if (contents.some(() => false))',
    },
  },
  {
    fault: 'a nonce is called lost for want of a receipt that an index does not have yet',
    foundBy: 'review',
    seed: 800190,
    file: 'actors/account/effects/who-used-the-nonce.ts',
    mending: 'if (contents.some((hashes) => hashes?.some((hash) => ours.has(hash))))',
    before: 'if (contents.some(() => false))',
  },
  {
    fault: 'what was mined is signed once more after its nonce was called lost',
    foundBy: 'review',
    seed: 811556,
    file: 'actors/account/core/decide-chain.ts',
    mending: '  stopSigningAgain(turn, txId, nowMs)\n',
    also: {
      file: 'actors/account/effects/who-used-the-nonce.ts',
      mending: 'if (contents.some((hashes) => hashes?.some((hash) => ours.has(hash))))',
      before: 'if (contents.some(() => false))',
    },
  },
  {
    fault: 'a freeze made while one is lifted counts as known to the provider',
    foundBy: 'review',
    seed: 511,
    file: 'actors/freezes/core/decide.ts',
    mending: ' && under?.refrozen !== true',
  },
  {
    fault: 'a receipt below all followed blocks is not compared with the chain',
    foundBy: 'review',
    seed: 7872,
    file: 'actors/chain-watcher/core/receipts.ts',
    mending:
      'if (seen === undefined && receipt.blockNumber <= head) state.unverified.add(receipt.blockNumber)',
  },
  {
    fault: 'a call that the provider never takes waits for people for good',
    foundBy: 'review',
    seed: 6110,
    file: 'actors/sub-wallet/effects/approvals.ts',
    mending: 'outcome(false, refusalOf(error))',
    before: 'outcome(false)',
    also: {
      file: 'actors/sub-wallet/core/run-approved.ts',
      mending: 'if (hasKeyEnded(turn.state, tx.keyId, nowMs) && isStoppable(turn, call)) {',
      before: 'if (phase === null) {',
    },
  },
  {
    fault: 'a decline of a call that is being signed is not brought again',
    foundBy: 'review',
    seed: 19958,
    file: 'actors/custody/decisions.ts',
    mending: 'return !isDecline',
    before: 'return true',
  },
  {
    fault: "a block that overtakes a node's answer leaves a broadcast untold",
    foundBy: 'review',
    seed: 4,
    file: 'actors/account/core/decide-chain.ts',
    mending: "if (entry.tx.status === 'signed') {",
    before: 'if (entry.tx.status === null) {',
  },
  {
    fault: 'a reorg that overtakes the commit of an end is not heard of',
    foundBy: 'review',
    seed: 12962,
    file: 'actors/sub-wallet/shell.ts',
    mending: "return type === 'screen' ||",
    before: "return type === 'read-end' || type === 'screen' ||",
  },
  {
    fault: 'the deadline of a handed call never passes on a thread without heads',
    foundBy: 'simulator',
    seed: 169,
    file: 'actors/sub-wallet/effects/delegation.ts',
    mending: '(await chain.fees.quote().catch(',
    before: '(await Promise.reject<never>(null).catch(',
  },
  {
    fault: 'what is stuck is not outbid on a thread without heads',
    foundBy: 'simulator',
    seed: 65,
    file: 'actors/account/effects/replace.ts',
    mending: 'chain.fees.latest() ?? (await chain.fees.quote())',
    before: "chain.fees.latest() ?? (await Promise.reject<never>(new Error('no fees')))",
  },
  {
    fault: 'a dead start takes over from a living one',
    foundBy: 'simulator',
    seed: 6343,
    file: 'src/identity-provider/vault/service-boots.ts',
    mending: "if (connection.closed) throw new Refusal('NO_SESSION', 'its connection is gone')\n",
  },
  {
    fault: 'an earlier owner of the journal takes over',
    foundBy: 'review',
    seed: 7,
    file: 'src/identity-provider/vault/service-boots.ts',
    mending: 'if (leadership !== null && leadership.epoch < lastEpoch) throw fenced()\n',
  },
  {
    fault: 'the spend of a swap that failed comes free twice',
    foundBy: 'simulator',
    seed: 2125018248,
    file: 'actors/sub-wallet/core/reopen-sponsored.ts',
    mending: "return tx.status === 'confirmed' ? tx : { ...tx, spentMicros: 0n }",
    before: 'return tx',
  },
  {
    fault: 'a cancellation that was forgotten here stops its lane',
    foundBy: 'simulator',
    seed: 855,
    file: 'actors/account/effects/replace.ts',
    mending: 'if (outcome.detail !== OUTBID) return insteadOfCancellation(ports, replaced)',
  },
  {
    fault: 'a job that has ended is told as it was before that was on disk',
    foundBy: 'simulator',
    seed: 21219,
    file: 'actors/gas-wallet/effects/prepare-job.ts',
    mending: "isEnding ? 'under-way' : found.tx",
    before: 'found.tx',
  },
  {
    fault: 'a start compares with a branch that has lost, and never again',
    foundBy: 'simulator',
    seed: 256145,
    file: 'actors/chain-watcher/core/reorgs.ts',
    mending: '    if (!isLast) compareAgain(state, block.number, head)\n',
  },
  {
    fault: 'an earlier decision that is acted on later takes away the time of a retry',
    foundBy: 'simulator',
    seed: 925807,
    file: 'actors/webhook-endpoint/shell.ts',
    mending: 'holder === undefined || turn < holder.wokenBy',
    before: 'holder === undefined',
  },
  {
    fault: 'an end in a branch that has lost stays where its wallet names another block',
    foundBy: 'review',
    seed: 7200435,
    file: 'actors/chain-watcher/core/watch-list.ts',
    mending: 'else if (again.mined?.blockHash !== mined.blockHash) this.setMined(again, mined)',
  },
  {
    fault: 'what a reorg reopens has lost its nonce meanwhile',
    foundBy: 'simulator',
    seed: 15528,
    file: 'actors/account/core/evolve.ts',
    mending: '  takeAgain(lane, tx.nonce)\n',
  },
  {
    fault: 'what a replacement costs more is counted in the day of its call, which is over',
    foundBy: 'simulator',
    seed: 1204360,
    file: 'actors/sub-wallet/core/replacement-spend.ts',
    mending:
      'node.key, micros) !== null)) return null\n  const { day, month } = windowsOf(tx.reservation, nodes)\n  return { micros, day, month }',
    before:
      'node.key, micros - (node.counters.day === tx.reservation.day ? 0n : tx.reservation.micros)) !== null)) return null\n  return { ...tx.reservation, micros }',
    also: {
      file: 'actors/sub-wallet/core/replacement-spend.ts',
      mending: 'const moreMicros = leftMicros - reservation.micros',
      before: 'const moreMicros = leftMicros',
    },
  },
  {
    fault: 'a start forgets a nonce that was freed below what was being signed',
    foundBy: 'simulator',
    seed: 1202240,
    file: 'actors/account/core/lane-nonces.ts',
    mending: '  while (free.has(nextNonce - 1)) nextNonce--\n',
  },
  {
    fault: "a gas wallet takes up a call by its sub-wallet's record",
    foundBy: 'simulator',
    seed: 1200353,
    file: 'actors/gas-wallet/shell.ts',
    mending: 'reader.fresh().gas.transaction(txId)',
    before: '({ tx: reader.fresh().transactions.byId(txId) ?? null, job: null })',
  },
  {
    fault: 'a branch that has lost is compared with for the last time before it is known',
    foundBy: 'simulator',
    seed: 5012977,
    file: 'actors/chain-watcher/core/reorgs.ts',
    mending: 'head >= (state.compared.get(block.number) ?? Infinity)',
    before: 'state.compared.has(block.number)',
  },
  {
    fault: 'what used a nonce is looked for below all blocks that nodes have, and never found',
    foundBy: 'simulator',
    seed: 6304535,
    file: 'actors/account/effects/who-used-the-nonce.ts',
    mending: '      missing = at\n      continue\n',
    before: "      return 'indeterminate'\n",
  },
  {
    fault: 'of two calls that are the same bytes one hears of no block',
    foundBy: 'simulator',
    seed: 6201679,
    file: 'actors/chain-watcher/core/watch-list.ts',
    mending: 'this.withHash(hash).filter((one) => one !== watched)',
    before: '[]',
    also: {
      file: 'actors/chain-watcher/core/watch-list.ts',
      mending: 'others === undefined ? [watched] : [...others, watched]',
      before: '[watched]',
    },
  },
  {
    fault: 'what is to close a gap fails when the chain has used it, and all waits for the gap',
    foundBy: 'simulator',
    seed: 8500953,
    file: 'actors/account/core/lane-nonces.ts',
    mending: 'return gaps.find((nonce) => nonce >= usedBelow)',
    before: 'return gaps.length === usedBelow ? gaps[0] : gaps[0]',
    also: {
      file: 'actors/account/core/evolve.ts',
      mending: 'lane.gaps = lane.gaps.filter((gap) => gap > nonce)',
      before: 'lane.gaps = lane.gaps.filter(() => true)',
    },
  },
  {
    fault: 'a wallet asks to be woken for approved calls that are due, and may not run yet',
    foundBy: 'simulator',
    seed: 8709403,
    file: 'actors/sub-wallet/core/run-approved.ts',
    mending: 'isFull ? Number.POSITIVE_INFINITY : runsAtMs(turn, call)',
    before: 'isFull ? runsAtMs(turn, call) : runsAtMs(turn, call)',
  },
]
