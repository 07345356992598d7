/**
 * Seeds that the suite replays: some that between them do all that a run can do, and each that once
 * found something. What a seed draws changes where the simulator does, so a fault that was found is
 * a test of its own as well.
 */
export const CORPUS: readonly number[] = [
  136, 130, 588, 602, 154, 158, 146, 116, 148, 124, 123, 129, 96, 1047, 20725, 531, 520, 471, 678,
  630, 900091, 900300, 900523, 900732, 5, 12, 755005883, 946437308, 98, 511, 1462, 21219, 9046,
  16002, 1201664, 1202240, 1204360, 1200353, 5006405, 5012977,
]
