import { formatCap, formatMicros, shareOfCap } from './money.js'

/** From this share on a cap counts as nearly used up, per mille. */
const NEAR = 800
const FULL = 1_000

/** The used part of a cap. */
export function CapBar(shown: {
  /** For example `Today`. */
  readonly label: string
  readonly usedMicros: bigint
  /** Decimal USD, or `unlimited`. */
  readonly cap: string
}) {
  const { label, usedMicros, cap } = shown
  const share = shareOfCap(usedMicros, cap)
  const tone = share === null || share < NEAR ? 'ok' : share < FULL ? 'warn' : 'bad'
  return (
    <div class="cap">
      <span class="cap-label">{label}</span>
      <span class="cap-words">
        <strong>{formatMicros(usedMicros)}</strong>
        <span class="mute"> / {formatCap(cap)}</span>
      </span>
      {/* The words say it already. */}
      <div class="cap-track" aria-hidden="true">
        <div class={`cap-fill ${tone}`} style={{ width: `${(share ?? 0) / 10}%` }} />
      </div>
    </div>
  )
}
