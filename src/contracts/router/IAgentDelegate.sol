// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Intent, UserSignature} from "./RouterIntent.sol";

/// @notice What the Router asks of the code that a sub-wallet delegates to.
interface IAgentDelegate {
    /// @notice Sends `intent.amountIn` of `intent.tokenIn` to the Router.
    function pull(Intent calldata intent, UserSignature calldata signature) external;
}
