// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RouterHandler} from "./RouterHandler.sol";

contract AgentRouterInvariantsTest {
    RouterHandler private handler;

    function setUp() public {
        handler = new RouterHandler();
    }

    /// @dev forge asks which contracts to call.
    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// Nothing moved that two keys did not sign, and nothing was refused that both signed.
    function invariant_onlyFullySignedIntentsMoveFunds() external view {
        assert(handler.breaches() == 0);
        for (uint256 i = 0; i < handler.ACCOUNTS(); i++) {
            (uint256 input, uint256 output) = handler.accountBalances(i);
            address account = handler.accounts(i);
            assert(input == handler.funds() - handler.spent(account));
            assert(output == handler.received(account));
        }
    }

    function invariant_theRouterKeepsNothing() external view {
        assert(handler.routerBalances() == 0);
        assert(handler.routerAllowance() == 0);
    }

    function invariant_feesAreWhatWasSignedAndUnderTheCap() external view {
        assert(handler.feeBalance() == handler.feesTaken());
        assert(handler.feesTaken() * 100 <= handler.inputTotal());
    }
}
