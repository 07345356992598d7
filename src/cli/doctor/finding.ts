/** The doctor's result for one subject, and what to do about it. */
export interface Finding {
  /** The name of what was checked. */
  readonly subject: string
  /** `warn` means that it works, but should be changed. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** The state that was found, without secrets. */
  readonly found: string
  /** A command or an edit; null when nothing needs to be done. */
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
 * Runs a check and turns an error into a finding: one broken part must not hide the others.
 * @param wayOut what to do after an error
 */
export async function check(
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
