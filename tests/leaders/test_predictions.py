"""The election rules against real controllers: every death and every start of the incidents, on every version."""


class TestLeadersLost:
    def test_each_event_ends_as_predicted(self, leaders_lost):
        """Three deaths and three starts, each with every partition that is not being deleted."""
        predictions = leaders_lost.stage.predictions
        assert len(predictions) == 6
        assert all(prediction.partitions >= 27 for prediction in predictions)
        assert [prediction for prediction in predictions if prediction.wrong] == []


class TestControllerLost:
    def test_each_event_ends_as_predicted(self, controller_lost):
        """The death of the controller with another broker, and the start of both."""
        predictions = controller_lost.stage.predictions
        assert len(predictions) == 3
        assert [prediction for prediction in predictions if prediction.wrong] == []
