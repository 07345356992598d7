/** What the doctor found about one thing, and what to do about it. */
export interface Finding {
  /** What was looked at, as a person calls it. */
  readonly subject: string
  /** `warn`: it works, and should not stay so. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** What is the case; no secret. */
  readonly found: string
  /** A command or an edit; null when nothing is to be done. */
  readonly wayOut: string | null
}

export const fine = (subject: string, found: string): Finding => ({
  subject,
  status: 'ok',
  found,
  wayOut: null,
})

export const concern = (subject: string, found: string, wayOut: string): Finding => ({
  subject,
  status: 'warn',
  found,
  wayOut,
})

export const failure = (subject: string, found: string, wayOut: string): Finding => ({
  subject,
  status: 'fail',
  found,
  wayOut,
})

/**
 * Looks, and takes a fault for a finding: one thing that is broken must not hide the others.
 * @param wayOut of a fault
 */
export async function look(
  subject: string,
  wayOut: string,
  work: () => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    const found = await work()
    return 'subject' in found ? [found] : found
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [failure(subject, reason, wayOut)]
  }
}
