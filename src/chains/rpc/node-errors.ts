import type { RejectReason } from './broadcast-outcome.js'

/**
 * Error texts of `eth_sendRawTransaction` in geth, op-geth, bor, bsc, nitro, erigon, nethermind,
 * reth, besu and anvil. Sources: `core/error.go`, `core/txpool/errors.go`,
 * `core/txpool/validation.go`, `legacypool.go` (geth and its forks), `txpoolcfg.go` (erigon),
 * `TxPoolErrorMessages.cs` and `AcceptTxResult.cs` (nethermind, both generations),
 * `rpc-eth-types/src/error` (reth), `eth/error.rs` (anvil). Order matters: the first match wins, so
 * narrow rows come before the wide ones that they overlap with. Patterns are unanchored because
 * gateways and forwarding nodes wrap the text that they pass on.
 */
export interface NodeErrorRow {
  readonly pattern: RegExp
  readonly verdict: RowVerdict
  readonly why: string
}

type RowVerdict =
  | { readonly kind: 'known' | 'retry' | 'nonce-too-low' | 'indeterminate' }
  | { readonly kind: 'underpriced'; readonly against: 'replacement' | 'floor' }
  | { readonly kind: 'rejected'; readonly reason: RejectReason }

const KNOWN = { kind: 'known' } as const
const RETRY = { kind: 'retry' } as const
const NONCE_TOO_LOW = { kind: 'nonce-too-low' } as const
const INDETERMINATE = { kind: 'indeterminate' } as const
const REPLACEMENT = { kind: 'underpriced', against: 'replacement' } as const
const FLOOR = { kind: 'underpriced', against: 'floor' } as const

function rejected(reason: RejectReason) {
  return { kind: 'rejected', reason } as const
}

export const NODE_ERROR_ROWS: readonly NodeErrorRow[] = [
  {
    pattern:
      /already known|already imported|\bknown transaction|existing (?:tx|txn) with same hash|with the same hash was already|\balreadyknown\b|already in (?:the )?(?:mem|tx ?)?pool/i,
    verdict: KNOWN,
    why: 'the pool holds exactly these bytes: the hash is what it compares',
  },
  {
    pattern:
      /delegated account|cannot be delegated|(?:authority|address) already reserved|delegation nonce gap|delegation authority has pending|NotCurrentNonceForDelegation|DelegatorHasPendingTx|pending transaction type conflict|PendingTxsOfConflictingType/i,
    verdict: RETRY,
    why: 'EIP-7702 pool rules: one transaction in flight per delegated account; passes when that one is mined',
  },
  {
    pattern: /authority nonce too low/i,
    verdict: rejected('authorization'),
    why: 'the authorization nonce is spent, so the list would be skipped; must precede "nonce too low"',
  },
  {
    pattern: /nonce (?:is )?too low|\bOldNonce\b|(?:^|: )mined$/i,
    verdict: NONCE_TOO_LOW,
    why: 'the account has moved on, perhaps by these very bytes',
  },
  {
    pattern: /nonce (?:is )?too high|\bNonceGap\b|nonce too far in (?:the )?future|\bnonce gap\b/i,
    verdict: RETRY,
    why: 'an earlier nonce is missing at this node: lag, or its predecessor is on the way',
  },
  {
    pattern: /future transaction tries to replace pending/i,
    verdict: RETRY,
    why: 'full pool: a gapped transaction may not evict a pending one',
  },
  {
    pattern:
      /replacement transaction underpriced|could not replace existing|insufficient gas price to replace|ReplacementNotAllowed|OwnNonceAlreadyUsed|another transaction with same nonce/i,
    verdict: REPLACEMENT,
    why: 'the nonce is held by another transaction and the bump is below the pool’s step',
  },
  {
    pattern:
      /underpriced|gas price below (?:configured )?minimum|less than block base fee|\bfee too low\b|FeeTooLow|gas ?price (?:is )?too low|priority ?fee (?:per ?gas )?(?:below|too low)|EffectivePriorityFeePerGas too low/i,
    verdict: FLOOR,
    why: 'below the node’s tip floor, the base fee or the cheapest pooled transaction; a higher fee passes',
  },
  {
    pattern:
      /(?:pool|queue) (?:is )?full|\bQueueFull\b|account limit exceeded|\bspammer\b|\b(?:is |still )?syncing\b/i,
    verdict: RETRY,
    why: 'the pool has no room for it, or the node is not ready to take any',
  },
  {
    pattern: /exceeds the configured cap|fee cap exceeded/i,
    verdict: RETRY,
    why: 'rpc.txfeecap is a policy of this one node; another takes it',
  },
  {
    pattern:
      /insufficient ?(?:funds|balance).*(?:queued cost|cumulative cost)|would cause overdraft/i,
    verdict: RETRY,
    why: 'counts what else is pooled for the account, which changes as that is mined',
  },
  {
    pattern:
      /insufficient (?:funds|balance)|not enough funds|upfront cost exceeds account balance|InsufficientFunds/i,
    verdict: rejected('insufficient-funds'),
    why: 'balance at the node’s head; a lagging node may not have seen a deposit',
  },
  {
    pattern:
      /intrinsic gas too low|\bIntrinsicGas\b|intrinsic gas exceeds gas limit|floor data gas|not enough gas to cover minimal/i,
    verdict: rejected('intrinsic-gas'),
    why: 'follows from calldata and gas limit',
  },
  {
    pattern:
      /exceeds block gas limit|intrinsic gas too high|gas limit (?:is )?too high|exceeds max transaction gas limit|greater than the block gas limit|GasLimitExceeded|exceeds current gas limit/i,
    verdict: rejected('gas-limit'),
    why: 'EIP-7825 cap or the block limit of the node’s head, which moves by 1/1024 a block',
  },
  {
    pattern: /oversized data|transaction too large|MaxTxSizeExceeded|RLPTooLong|initcode/i,
    verdict: rejected('oversized'),
    why: 'pool limits are per client (128 KiB in geth)',
  },
  {
    pattern: /sender (?:is )?not an eoa|SenderIsContract/i,
    verdict: rejected('sender-has-code'),
    why: 'EIP-3607; a node without EIP-7702 says so of delegated accounts',
  },
  {
    pattern: /execution reverted/i,
    verdict: rejected('reverted'),
    why: 'nitro’s sequencer runs a transaction before it takes it and turns cheap reverts away',
  },
  {
    pattern:
      /(?:unsupported|not supported).*transaction type|transaction type.*not (?:supported|activated)|unsupported transaction|authorization list not supported/i,
    verdict: rejected('unsupported'),
    why: 'the fork rules of the node’s version; another version may have taken it',
  },
  {
    pattern:
      /invalid sender|invalid (?:transaction )?signature|failed to recover sender|FailedToResolveSender|invalid chain id|chain ?id mismatch|incompatible eip-155|negative value|GasUintOverflow|gas uint64 overflow|cost overflow|Int256Overflow|priority fee per gas higher than|higher than 2\^256|nonce has max value|\brlp:|(?:failed to|could not be) decode|typed transaction too short|at least one authorization|empty authorization list|authorization list has invalid|transaction invalid|invalid transaction format/i,
    verdict: rejected('invalid'),
    why: 'the bytes break a rule that does not depend on state',
  },
  {
    pattern:
      /deadline exceeded|timed? ?out|bad gateway|gateway time|connection (?:reset|closed)|unexpected EOF/i,
    verdict: INDETERMINATE,
    why: 'a forwarding node lost its upstream after writing; the sequencer may hold the bytes',
  },
]
