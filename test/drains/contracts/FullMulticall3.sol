// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DevMulticall3} from "../../../src/contracts/devnet/DevMulticall3.sol";

/// @notice With the function of Multicall3 that hands native currency to each call.
contract FullMulticall3 is DevMulticall3 {
    struct Call3Value {
        address target;
        bool allowFailure;
        uint256 value;
        bytes callData;
    }

    function aggregate3Value(
        Call3Value[] calldata calls
    ) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory data) = calls[i].target.call{value: calls[i].value}(
                calls[i].callData
            );
            require(success || calls[i].allowFailure, "Multicall3: call failed");
            returnData[i] = Result(success, data);
        }
    }
}
