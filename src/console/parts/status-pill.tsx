type Tone = 'ok' | 'warn' | 'bad' | 'busy' | 'plain'

/** The meaning of each status for the reader; the text carries it, and colour helps. */
const TONES: Readonly<Record<string, Tone>> = {
  active: 'ok',
  approved: 'ok',
  confirmed: 'ok',
  delivered: 'ok',
  enabled: 'ok',
  up: 'ok',
  awaiting_approval: 'warn',
  degraded: 'warn',
  pending: 'warn',
  rotated_out: 'warn',
  expired: 'plain',
  withdrawn: 'plain',
  dropped: 'plain',
  broadcast: 'busy',
  signed: 'busy',
  declined: 'bad',
  disabled: 'plain',
  down: 'bad',
  failed: 'bad',
  frozen: 'bad',
  refused: 'bad',
  revoked: 'plain',
}

export function StatusPill({ status, tone }: { readonly status: string; readonly tone?: Tone }) {
  return (
    <span class={`pill ${tone ?? TONES[status] ?? 'plain'}`}>{status.replaceAll('_', ' ')}</span>
  )
}
